//! A wheel: the Python module of a library, its stubs and the shared library as one file that `pip install` takes.
//!
//! The format is that of the Python packaging specifications ("Binary distribution format", "Recording installed
//! projects"): a ZIP archive with a folder of metadata, in which `RECORD` lists the SHA-256 of every file. Nothing in it
//! depends on the time or the machine, so the same library makes the same wheel.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::io::{Cursor, Write};
use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime};

/// The oldest GNU C library that platform tags of the form `manylinux_2_x` are used for.
const OLDEST: u32 = 17;

/// What a wheel is made of.
pub struct Wheel<'a> {
    /// The name of the module.
    pub name: &'a str,
    /// The version, as [`super::package::version`] has it.
    pub version: &'a str,
    /// Its files, with their names.
    pub files: &'a [(String, Vec<u8>)],
    /// What the program says about its functions: the description, in Markdown.
    pub about: &'a str,
}

impl Wheel<'_> {
    /// The name of the file: what it runs with stands in it.
    pub fn file_name(&self) -> String {
        format!("{}-{}-{}.whl", self.name, self.version, self.tag())
    }

    /// Any Python 3 on a machine whose C library has what the shared library needs of it.
    fn tag(&self) -> String {
        let needed = self.files.iter().filter_map(|(_, bytes)| needed_c_library(bytes)).max().unwrap_or(OLDEST);
        format!("py3-none-manylinux_2_{}_x86_64", needed.max(OLDEST))
    }

    /// The bytes of the file.
    ///
    /// # Errors
    ///
    /// When the archive would be larger than the format can hold.
    pub fn bytes(&self) -> zip::result::ZipResult<Vec<u8>> {
        let Wheel { name, version, files, about } = *self;
        let folder = format!("{name}-{version}.dist-info");
        let metadata = format!(
            "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {name}, compiled from VLAD\nRequires-Dist: \
             numpy\nDescription-Content-Type: text/markdown\n\n{about}"
        );
        let wheel = format!("Wheel-Version: 1.0\nGenerator: vlad\nRoot-Is-Purelib: false\nTag: {}\n", self.tag());
        let texts = [("METADATA", metadata), ("WHEEL", wheel)];
        let texts = texts.into_iter().map(|(file, text)| (format!("{folder}/{file}"), text.into_bytes()));
        let all: Vec<(String, Vec<u8>)> = files.iter().cloned().chain(texts).collect();
        let mut record = String::new();
        for (path, bytes) in &all {
            let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
            record += &format!("{path},sha256={sum},{}\n", bytes.len());
        }
        let path = format!("{folder}/RECORD");
        record += &format!("{path},,\n");
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, bytes) in all.into_iter().chain([(path, record.into_bytes())]) {
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Deflated)
                .last_modified_time(DateTime::default())
                .unix_permissions(if path.ends_with(".so") { 0o755 } else { 0o644 });
            archive.start_file(path, options)?;
            archive.write_all(&bytes)?;
        }
        Ok(archive.finish()?.into_inner())
    }
}

/// The x of the newest version 2.x of the GNU C library that a shared object names.
fn needed_c_library(object: &[u8]) -> Option<u32> {
    const MARK: &[u8] = b"GLIBC_2.";
    let versions = object.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK);
    let digits = |at: usize| object[at + MARK.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    versions.filter_map(|(at, _)| String::from_utf8(digits(at).copied().collect()).ok()?.parse().ok()).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_names_the_newest_c_library_that_is_needed() {
        let files = [("libm.so".to_string(), b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.4\0".to_vec())];
        let wheel = Wheel { name: "m", version: "1.0", files: &files, about: "" };
        assert_eq!(wheel.file_name(), "m-1.0-py3-none-manylinux_2_34_x86_64.whl");
        let wheel = Wheel { files: &[], ..wheel };
        assert_eq!(wheel.file_name(), "m-1.0-py3-none-manylinux_2_17_x86_64.whl");
    }

    #[test]
    fn the_same_files_make_the_same_wheel() {
        let files = [("m.py".to_string(), b"x = 1\n".to_vec())];
        let wheel = Wheel { name: "m", version: "1.0", files: &files, about: "About.\n" };
        assert_eq!(wheel.bytes().expect("it is small"), wheel.bytes().expect("it is small"));
    }
}
