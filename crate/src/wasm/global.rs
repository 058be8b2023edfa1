//! The global state of the module.

use core::cell::RefCell;

/// A global value, made at its first use.
pub struct Global<T>(RefCell<Option<T>>);

// SAFETY: the module is built without threads, so that no other thread can reach it.
unsafe impl<T> Sync for Global<T> {}

impl<T: Default> Global<T> {
    pub const fn new() -> Self {
        Self(RefCell::new(None))
    }

    /// Runs a function on it. Panics if `run` calls it again.
    pub fn with<R>(&self, run: impl FnOnce(&mut T) -> R) -> R {
        run(self.0.borrow_mut().get_or_insert_default())
    }

    /// Replaces the value.
    pub fn set(&self, value: T) {
        *self.0.borrow_mut() = Some(value);
    }
}
