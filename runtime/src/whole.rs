//! Files that appear whole: they are written under another name and get theirs in the end.

use crate::arguments::Unreadable;
use crate::{command_line, output, system};

/// The longest name of a file.
const LONGEST: usize = 4096;
const PART: &[u8] = b".part";

/// A file: its name with a zero byte behind it, and what it is called until it is whole.
pub struct Whole([[u8; LONGEST + 8]; 2]);

impl Whole {
    /// Without a name.
    pub const fn new() -> Whole {
        Whole([[0; LONGEST + 8]; 2])
    }

    /// Whether it has a name.
    pub fn is_named(&self) -> bool {
        self.0[0][0] != 0
    }

    /// Gives it a name, if such a file can be written: better now than when there is something to write.
    ///
    /// # Errors
    ///
    /// When it cannot.
    pub fn name(&mut self, path: &[u8]) -> Result<(), Unreadable> {
        demand_regular(path)?;
        for (place, ending) in self.0.iter_mut().zip([&b""[..], PART]) {
            let length = path.len().min(LONGEST);
            place[..length].copy_from_slice(&path[..length]);
            place[length..length + ending.len()].copy_from_slice(ending);
        }
        let part = path.len() + PART.len();
        let file = command_line::open(self.0[1].get(..part).unwrap_or(path), system::O_NEW, "write")?;
        // SAFETY: the file is open, its name ends in a zero byte.
        unsafe {
            system::close(file);
            system::unlink(self.0[1].as_ptr().cast());
        }
        Ok(())
    }

    /// Writes it; `false` if the system refuses.
    pub fn write(&self, bytes: &[u8]) -> bool {
        // SAFETY: the names end in zero bytes.
        unsafe {
            let file = system::open(self.0[1].as_ptr().cast(), system::O_NEW | system::O_CLOEXEC, 0o666);
            let written = file >= 0 && output::write_all(file, bytes).is_ok() && system::fsync(file) == 0;
            if file >= 0 {
                system::close(file);
            }
            written && system::rename(self.0[1].as_ptr().cast(), self.0[0].as_ptr().cast()) == 0
        }
    }
}

impl Default for Whole {
    fn default() -> Whole {
        Whole::new()
    }
}

/// What is there and is no regular file must not be replaced.
fn demand_regular(path: &[u8]) -> Result<(), Unreadable> {
    match command_line::try_open(path, system::O_PRESENT) {
        Err(system::ENOENT) => Ok(()),
        Err(error) => {
            command_line::complain("write", path, system::describe_error(error));
            Err(Unreadable)
        }
        Ok(file) => {
            let is_regular = system::is_regular(file);
            // SAFETY: the file is open and not used any more.
            unsafe { system::close(file) };
            if is_regular {
                return Ok(());
            }
            command_line::complain("write", path, b"it is no regular file");
            Err(Unreadable)
        }
    }
}
