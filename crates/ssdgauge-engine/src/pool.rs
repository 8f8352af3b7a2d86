//! The pool of random data for writes.

use ssdgauge_core::Random;
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The length of a pool, unless a workload needs more. It exceeds the caches of the processor, and
/// no 4 KiB repeat within it.
const DEFAULT_LENGTH: usize = 64 << 20;

/// Pools without a rig, for reuse: generating one takes longer than most steps of a test.
static FREE: Mutex<Vec<Arc<Region>>> = Mutex::new(Vec::new());

/// The random data of one rig: different in each process, so that a drive with deduplication finds
/// no data of an earlier run. A region belongs to one rig at a time, because the threads of a
/// workload write verification headers into it.
#[derive(Debug, Default)]
pub struct Pool {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    /// A thread generates it.
    Generating(JoinHandle<Result<Arc<Region>, String>>),
    Ready(Arc<Region>),
}

impl Pool {
    /// Starts to generate a pool on a separate thread, so that the first write need not wait.
    pub fn begin() -> Pool {
        Pool {
            state: Mutex::new(State::Generating(std::thread::spawn(|| generate(DEFAULT_LENGTH)))),
        }
    }

    /// Returns the data, at least `length` bytes of it. Waits for the generating thread.
    ///
    /// # Errors
    /// The cause in words, where there is no memory or /dev/urandom cannot be read.
    pub fn get(&self, length: usize) -> Result<Arc<Region>, String> {
        let mut state = self.state.lock().map_err(|_| "no data to write".to_owned())?;
        let region = match std::mem::take(&mut *state) {
            State::Empty => generate(length.max(DEFAULT_LENGTH))?,
            State::Generating(thread) => {
                thread.join().map_err(|_| "no data to write".to_owned()).flatten()?
            }
            State::Ready(region) => region,
        };
        let region = if region.length() < length { generate(length)? } else { region };
        *state = State::Ready(region.clone());
        Ok(region)
    }

    /// Returns the data as the last writes have left it; `None` where nothing was written.
    pub fn written(&self) -> Option<Arc<Region>> {
        match &*self.state.lock().ok()? {
            State::Ready(region) => Some(region.clone()),
            State::Empty | State::Generating(_) => None,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let Ok(state) = self.state.get_mut() else { return };
        let region = match std::mem::take(state) {
            State::Empty => return,
            State::Generating(thread) => thread.join().ok().and_then(Result::ok),
            State::Ready(region) => Some(region),
        };
        // A request of a thread that hangs in the kernel may still use the region: such a region
        // is never used again.
        let region = region.filter(|region| Arc::strong_count(region) == 1);
        if let (Some(region), Ok(mut free)) = (region, FREE.lock()) {
            free.push(region);
        }
    }
}

/// Returns a free region of at least `length` bytes, or generates one.
fn generate(length: usize) -> Result<Arc<Region>, String> {
    if let Ok(mut free) = FREE.lock()
        && let Some(found) = free.iter().position(|region| region.length() >= length)
    {
        return Ok(free.swap_remove(found));
    }
    let cause = |error: io::Error| format!("no data to write: {error}");
    let mut random = Random::new(random_tag().map_err(cause)?, 0);
    let mut region = Region::new(length).map_err(cause)?;
    region.words_mut().iter_mut().for_each(|word| *word = random.next_u64());
    Ok(Arc::new(region))
}

/// Returns a random number that identifies a run.
///
/// # Errors
/// The error of the kernel, where /dev/urandom cannot be read.
pub fn random_tag() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_cannot_be_compressed_or_deduplicated() {
        let pool = Pool::begin().get(0).unwrap();
        // SAFETY: this pool has no other user.
        let words = unsafe {
            std::slice::from_raw_parts(pool.at(0).cast::<[u64; 512]>(), pool.length() / 4_096)
        };
        let blocks: std::collections::HashSet<&[u64; 512]> = words.iter().collect();
        assert_eq!(blocks.len(), pool.length() / 4_096);
        // All bytes are equally frequent, so an entropy coder gains nothing: 65,536 of each are
        // expected in 16 MiB, and five standard deviations are 1,280.
        let mut counts = [0u32; 256];
        for word in words.iter().flatten().take(2 << 20) {
            word.to_le_bytes().iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        }
        assert!(counts.iter().all(|n| n.abs_diff(65_536) < 1_280), "{counts:?}");
    }

    #[test]
    fn a_pool_belongs_to_one_rig_and_grows_on_demand() {
        let (one, two) = (Pool::begin(), Pool::begin());
        let (first, second) = (one.get(0).unwrap(), two.get(DEFAULT_LENGTH + 1).unwrap());
        assert_ne!(first.at(0), second.at(0));
        assert!(first.length() >= DEFAULT_LENGTH && second.length() > DEFAULT_LENGTH);
    }
}
