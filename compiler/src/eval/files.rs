//! Where a program writes if not to standard output: files, which appear whole or not at all, and texts that it makes.

use crate::core::errors::RuntimeError;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The file that is being written, if there is one. Until it is whole it has another name.
#[derive(Debug, Default)]
pub struct Files {
    current: Option<(BufWriter<File>, PathBuf)>,
    /// What has been written to texts that have not ended, innermost last.
    texts: Vec<Vec<u8>>,
    on_file: Option<fn(&Path)>,
}

/// The operating system's refusal to write a file.
fn failed(name: &Path, error: &io::Error) -> RuntimeError {
    RuntimeError::InputOutput { message: format!("{}: {error}", name.display()) }
}

/// Where output goes.
pub enum Target<'f> {
    /// To the file that is being written.
    File(&'f mut dyn Write),
    /// To the innermost text that has not ended.
    Text(&'f mut Vec<u8>),
}

impl Files {
    /// Nothing is being written. Somebody is told of each file that is whole.
    pub fn telling(on_file: Option<fn(&Path)>) -> Files {
        Files { current: None, texts: Vec::new(), on_file }
    }

    /// Where output goes, if not to standard output.
    pub fn current(&mut self) -> Option<Target<'_>> {
        match self.texts.last_mut() {
            Some(text) => Some(Target::Text(text)),
            None => self.current.as_mut().map(|(file, _)| Target::File(file)),
        }
    }

    /// Begins a text: what is written from now on belongs to it.
    pub fn begin_text(&mut self) {
        self.texts.push(Vec::new());
    }

    /// Ends the innermost text.
    pub fn end_text(&mut self) -> String {
        String::from_utf8_lossy(&self.texts.pop().unwrap_or_default()).into_owned()
    }

    /// Begins a file.
    ///
    /// # Errors
    ///
    /// When it cannot be written, or another one has not ended.
    pub fn begin(&mut self, name: &str) -> Result<(), RuntimeError> {
        if self.current.is_some() {
            return Err(RuntimeError::InputOutput { message: "a file is being written already".into() });
        }
        let file = File::create(part(Path::new(name))).map_err(|error| failed(Path::new(name), &error))?;
        self.current = Some((BufWriter::new(file), name.into()));
        Ok(())
    }

    /// Ends the file: it gets its name, or is forgotten.
    ///
    /// # Errors
    ///
    /// When that cannot be.
    pub fn end(&mut self, whole: bool) -> Result<(), RuntimeError> {
        let Some((file, name)) = self.current.take() else { return Ok(()) };
        let finished = |mut file: BufWriter<File>| -> io::Result<()> {
            file.flush()?;
            std::fs::rename(part(&name), &name)
        };
        if !whole {
            return drop_part(&name);
        }
        finished(file).map_err(|error| failed(&name, &error))?;
        if let Some(tell) = self.on_file {
            tell(&name);
        }
        Ok(())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if let Some((_, name)) = &self.current {
            let _ = drop_part(name);
        }
    }
}

/// Forgets a file that is not whole. Where it cannot be removed there is nobody to tell.
fn drop_part(name: &Path) -> Result<(), RuntimeError> {
    let _ = std::fs::remove_file(part(name));
    Ok(())
}

/// The name of a file that is not whole yet.
fn part(name: &Path) -> PathBuf {
    let mut part = name.as_os_str().to_owned();
    part.push(".part");
    part.into()
}
