//! The pool: random data that writes are cut from.

use ssdgauge_core::Random;
use ssdgauge_os::memory::Region;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The usual bytes of a pool. No 4 KiB repeat within it.
const USUAL: usize = 64 << 20;

/// Pools that nobody uses: making one takes longer than most steps of a test.
static FREE: Mutex<Vec<Arc<Region>>> = Mutex::new(Vec::new());

/// The random data of one rig: different in each process, so that a drive that deduplicates finds
/// nothing of an earlier run. It belongs to one rig at a time, because the threads of a workload
/// put verification into it.
#[derive(Debug, Default)]
pub struct Pool {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Empty,
    /// A thread makes it.
    Making(JoinHandle<Result<Arc<Region>, String>>),
    Ready(Arc<Region>),
}

impl Pool {
    /// Begins to make a pool on a thread of its own, so that the first write does not wait for it.
    pub fn begin() -> Pool {
        Pool { state: Mutex::new(State::Making(std::thread::spawn(|| make(USUAL)))) }
    }

    /// Returns the data, at least `room` bytes of it.
    pub fn get(&self, room: usize) -> Result<Arc<Region>, String> {
        let mut state = self.state.lock().map_err(|_| "no data to write".to_owned())?;
        let region = match std::mem::take(&mut *state) {
            State::Empty => make(room.max(USUAL))?,
            State::Making(maker) => {
                maker.join().map_err(|_| "no data to write".to_owned()).flatten()?
            }
            State::Ready(region) => region,
        };
        let region = if region.length() < room { make(room)? } else { region };
        *state = State::Ready(region.clone());
        Ok(region)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let Ok(state) = self.state.get_mut() else { return };
        let region = match std::mem::take(state) {
            State::Empty => return,
            State::Making(maker) => maker.join().ok().and_then(Result::ok),
            State::Ready(region) => Some(region),
        };
        // A thread that hangs in the kernel may still hold on to it: then it stays out of use.
        let region = region.filter(|region| Arc::strong_count(region) == 1);
        if let (Some(region), Ok(mut free)) = (region, FREE.lock()) {
            free.push(region);
        }
    }
}

fn make(length: usize) -> Result<Arc<Region>, String> {
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

/// Returns a number that no other run has.
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
        // SAFETY: nobody else has this pool.
        let words = unsafe {
            std::slice::from_raw_parts(pool.at(0).cast::<[u64; 512]>(), pool.length() / 4_096)
        };
        let blocks: std::collections::HashSet<&[u64; 512]> = words.iter().collect();
        assert_eq!(blocks.len(), pool.length() / 4_096);
        // Every byte is as frequent as any other: nothing for an entropy coder. 64 KiB expected
        // of 16 MiB, five standard deviations are 1,280.
        let mut counts = [0u32; 256];
        for word in words.iter().flatten().take(2 << 20) {
            word.to_le_bytes().iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        }
        assert!(counts.iter().all(|n| n.abs_diff(65_536) < 1_280), "{counts:?}");
    }

    #[test]
    fn a_pool_serves_one_rig_at_a_time_and_grows_where_it_must() {
        let (one, two) = (Pool::begin(), Pool::begin());
        let (first, second) = (one.get(0).unwrap(), two.get(USUAL + 1).unwrap());
        assert_ne!(first.at(0), second.at(0));
        assert!(first.length() >= USUAL && second.length() > USUAL);
    }
}
