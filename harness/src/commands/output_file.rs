//! [`OutputFile`]: a file to which a command writes its result.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::error::CommandError;

/// A file being written. It appears under its name only once it is complete, so that a command which ends early leaves no partial file there. A
/// device or a pipe is written directly.
#[derive(Debug)]
pub struct OutputFile {
    /// The name that the user gave.
    path: PathBuf,
    /// Path of the file itself: the target where `path` is a link.
    place: PathBuf,
    /// Path of the temporary file beside `place` that is written until the file is complete.
    partial: Option<PathBuf>,
    writer: BufWriter<File>,
}

impl OutputFile {
    /// Begins the file at `path`; an existing file is replaced only with `force`.
    ///
    /// # Errors
    ///
    /// [`CommandError::Exists`], where there is a file that is not empty, and [`CommandError::Write`].
    pub fn create(path: &Path, force: bool) -> Result<Self, CommandError> {
        let known = fs::metadata(path).ok();
        if !force && known.as_ref().is_some_and(|known| known.is_file() && known.len() > 0) {
            return Err(CommandError::Exists { path: path.to_owned() });
        }
        // The target of a link is replaced, not the link.
        let place = match fs::canonicalize(path) {
            Err(_) if path.is_symlink() => {
                let problem = io::Error::other("it is a link to a place that is not there");
                return Err(CommandError::write(path, problem));
            }
            place => place.unwrap_or_else(|_| path.to_owned()),
        };
        let is_special = known.is_some_and(|known| !known.is_file());
        let partial = (!is_special).then(|| {
            let mut name = place.clone().into_os_string();
            name.push(".partial");
            PathBuf::from(name)
        });
        let opened = match &partial {
            Some(partial) => File::create(partial),
            None => File::options().write(true).open(&place),
        };
        let file = opened.map_err(|source| CommandError::write(path, source))?;
        Ok(Self {
            writer: BufWriter::new(file),
            path: path.to_owned(),
            place,
            partial,
        })
    }

    /// Appends text to the file.
    ///
    /// # Errors
    ///
    /// [`CommandError::Write`].
    pub fn write(&mut self, text: &str) -> Result<(), CommandError> {
        let written = self.writer.write_all(text.as_bytes());
        written.map_err(|source| CommandError::write(&self.path, source))
    }

    /// Completes the file and moves it to its path.
    ///
    /// # Errors
    ///
    /// [`CommandError::Write`].
    pub fn finish(mut self) -> Result<(), CommandError> {
        let flushed = self.writer.flush();
        let placed = flushed.and_then(|()| match self.partial.take() {
            Some(partial) => fs::rename(partial, &self.place),
            None => Ok(()),
        });
        placed.map_err(|source| CommandError::write(&self.path, source))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // A partial file is of no use.
            let _ = fs::remove_file(partial);
        }
    }
}
