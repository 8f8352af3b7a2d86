//! Work on many items with one thread for each processor.

use std::sync::Mutex;

/// Calls `work` on each of `items`, as many at once as there are processors; they start in their order.
/// Returns the results in the order of the items.
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    let one_after_the_other = || {
        let mut results = Vec::new();
        while let Some((index, item)) = next() {
            results.push((index, work(item)));
        }
        results
    };
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(one_after_the_other)).collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .flat_map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1_000).collect();
        let results = super::map(items, |item| {
            // Early items take longer, so that they end after late ones.
            (0..(1_000 - item) * 50).fold(item, |sum, one| std::hint::black_box(sum ^ one ^ one))
        });
        assert_eq!(results, (0..1_000).collect::<Vec<_>>());
        assert_eq!(super::map(Vec::<u8>::new(), |one| one), Vec::<u8>::new());
    }
}
