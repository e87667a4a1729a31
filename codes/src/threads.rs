use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

/// The number of rows that a thread takes at once. Sums over the rows of a chunk do not depend on the number of
/// threads.
pub(crate) const ROWS: usize = 64;

/// Lets threads work on items, and returns the results in the order of the items.
pub(crate) fn in_turn<I: Iterator + Send, R: Send>(
    threads: NonZero<usize>,
    items: I,
    work: impl Fn(I::Item) -> R + Sync,
) -> Vec<R> {
    if threads == NonZero::<usize>::MIN {
        return items.map(work).collect();
    }
    let items = Mutex::new(items.enumerate());
    let done = Mutex::new(Vec::new());
    let run = || {
        loop {
            let next = items.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((place, item)) = next else { return };
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.get() {
            // If the system gives no more threads, the threads that there are do all of the work.
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_in_order() {
        for threads in [1, 2, 7] {
            let threads = NonZero::new(threads).unwrap();
            let mut numbers: Vec<u32> = vec![0; 1000];
            let sizes = in_turn(threads, numbers.chunks_mut(ROWS).enumerate(), |(chunk, numbers)| {
                for number in numbers.iter_mut() {
                    *number += 1;
                }
                (chunk, numbers.len())
            });
            assert!(numbers.iter().all(|number| *number == 1));
            assert_eq!(sizes.iter().map(|(chunk, _)| *chunk).collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
            assert_eq!(sizes.iter().map(|(_, size)| size).sum::<usize>(), 1000);
            assert!(in_turn(threads, 0..0, |item: u32| item).is_empty());
        }
    }
}
