use std::sync::{Mutex, PoisonError};

/// The approximate number of bytes of memory that are taken, with a callback that can refuse more.
pub(crate) struct Memory<'a, E> {
    grows: &'a (dyn Fn(usize) -> Result<(), E> + Sync),
    /// The bytes taken now, and at the peak.
    bytes: Mutex<[usize; 2]>,
}

impl<'a, E> Memory<'a, E> {
    /// Creates a count of 0 bytes. `grows` is called with the number of bytes each time that it grows.
    pub(crate) fn new(grows: &'a (dyn Fn(usize) -> Result<(), E> + Sync)) -> Self {
        Self { grows, bytes: Mutex::default() }
    }

    /// Takes `more` bytes, from any thread; fails if `grows` does.
    pub(crate) fn take(&self, more: usize) -> Result<(), E> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let [now, most] = *bytes;
        let now = now.saturating_add(more);
        (self.grows)(now)?;
        *bytes = [now, most.max(now)];
        Ok(())
    }

    /// Gives back `less` of the bytes taken.
    pub(crate) fn give_back(&self, less: usize) {
        let [now, _] = &mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.saturating_sub(less);
    }

    /// Returns the number of bytes taken at the peak.
    pub(crate) fn most(&self) -> usize {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)[1]
    }
}

/// Allows any number of bytes.
pub(crate) fn no_limit(_: usize) -> crate::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_not_taken() {
        let grows = |bytes| if bytes <= 10 { Ok(()) } else { Err(bytes) };
        let memory = Memory::new(&grows);
        assert_eq!([memory.take(6), memory.take(5), memory.take(4)], [Ok(()), Err(11), Ok(())]);
        memory.give_back(8);
        assert_eq!([memory.take(9), memory.take(8)], [Err(11), Ok(())]);
        assert_eq!(memory.most(), 10);
    }
}
