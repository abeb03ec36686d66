//! What build systems are told about a library: a Rust crate, a file for pkg-config, and one for CMake.

use std::path::PathBuf;

/// The files of a crate that has the module of a static library as its root, with their places in its folder; the
/// archive belongs to the folder `lib`.
pub fn crate_files(name: &str, version: &str, module: String) -> Vec<(PathBuf, String)> {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\nlinks = \"{name}\"\nbuild = \
         \"build.rs\"\n\n[workspace]\n"
    );
    let script = "//! Says where the library is.\n\nfn main() {\n    let folder = std::env::var(\"CARGO_MANIFEST_DIR\")\
                  .expect(\"cargo sets it\");\n    println!(\"cargo:rustc-link-search=native={folder}/lib\");\n    \
                  println!(\"cargo:rerun-if-changed=lib\");\n}\n";
    vec![
        (PathBuf::from("Cargo.toml"), manifest),
        (PathBuf::from("build.rs"), script.to_string()),
        (PathBuf::from("src/lib.rs"), module),
    ]
}

/// A version of a package, which Python and Rust read alike: three numbers, of which the last may be left out.
///
/// # Errors
///
/// When the text is none.
pub fn version(text: &str) -> Result<String, String> {
    let numbers: Vec<&str> = text.split('.').collect();
    let is_number = |part: &&str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) && (*part == "0" || !part.starts_with('0'))
    };
    if numbers.len() > 3 || !numbers.iter().all(is_number) {
        return Err("expected one to three numbers with dots between them, such as 1.2.0".to_string());
    }
    Ok([&numbers[..], &["0"; 3][numbers.len()..]].concat().join("."))
}

/// The file `NAME.pc`, for pkg-config: the library and its header stand beside it.
pub fn pkg_config(name: &str, version: &str) -> String {
    format!(
        "Name: {name}\nDescription: {name}, compiled from VLAD\nVersion: {version}\nCflags: -I${{pcfiledir}}\nLibs: \
         -L${{pcfiledir}} -l{name} -lm\n"
    )
}

/// The file `NAMEConfig.cmake`: `find_package(NAME)` and then the target `NAME::NAME`.
pub fn cmake(name: &str, is_static: bool) -> String {
    let (kind, file) = if is_static { ("STATIC", format!("lib{name}.a")) } else { ("SHARED", format!("lib{name}.so")) };
    format!(
        "# The library {name}, compiled from VLAD.\nif(NOT TARGET {name}::{name})\n  add_library({name}::{name} {kind} \
         IMPORTED)\n  set_target_properties({name}::{name} PROPERTIES\n    IMPORTED_LOCATION \
         \"${{CMAKE_CURRENT_LIST_DIR}}/{file}\"\n    INTERFACE_INCLUDE_DIRECTORIES \"${{CMAKE_CURRENT_LIST_DIR}}\"\n    \
         INTERFACE_LINK_LIBRARIES m)\nendif()\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_three_numbers() {
        assert_eq!(version("1").as_deref(), Ok("1.0.0"));
        assert_eq!(version("0.10").as_deref(), Ok("0.10.0"));
        assert_eq!(version("1.2.3").as_deref(), Ok("1.2.3"));
        for wrong in ["", "1.", "1..2", "1.2.3.4", "01.2.3", "1.2.x", "v1", "1.2rc1"] {
            assert!(version(wrong).is_err(), "{wrong}");
        }
    }
}
