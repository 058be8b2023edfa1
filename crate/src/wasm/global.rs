//! The state of a module, which exported functions reach.

use core::cell::RefCell;

/// A value that a module has once, made when it is first reached.
pub struct Global<T>(RefCell<Option<T>>);

// SAFETY: the module is built without threads, so that no other thread can reach it.
unsafe impl<T> Sync for Global<T> {}

impl<T: Default> Global<T> {
    pub const fn new() -> Self {
        Self(RefCell::new(None))
    }

    /// Runs a function on it. Must not be called again meanwhile.
    pub fn with<R>(&self, run: impl FnOnce(&mut T) -> R) -> R {
        run(self.0.borrow_mut().get_or_insert_default())
    }

    /// Puts another value in its place.
    pub fn set(&self, value: T) {
        *self.0.borrow_mut() = Some(value);
    }
}
