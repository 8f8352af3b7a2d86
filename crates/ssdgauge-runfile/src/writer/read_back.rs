//! Reading of a file that is being written.

use super::Writer;
use crate::error::RunFileError;
use crate::record::reader::RunFile;

impl Writer {
    /// Makes all added records durable and opens the file for reading.
    ///
    /// # Errors
    ///
    /// Those of [`Writer::commit`] and of [`RunFile::open`].
    pub fn read_back(&mut self) -> Result<RunFile, RunFileError> {
        // Opened between two transactions: a descriptor that is closed meanwhile releases the locks
        // of this process on the file, and then there are none.
        self.batch("COMMIT")?;
        let run = RunFile::open(&self.path);
        self.begin()?;
        run
    }
}
