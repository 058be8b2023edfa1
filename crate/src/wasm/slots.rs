//! Values by handles: numbers of places, which are reused once they are free.

use alloc::vec::Vec;

/// Values by their handles.
pub struct Slots<T>(Vec<Option<T>>);

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Slots<T> {
    /// Adds a value; returns its handle, the lowest that is free.
    pub fn add(&mut self, value: T) -> u32 {
        let at = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(None);
        }
        self.0[at] = Some(value);
        at as u32
    }

    pub fn get(&self, handle: u32) -> Option<&T> {
        self.0.get(handle as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, handle: u32) -> Option<&mut T> {
        self.0.get_mut(handle as usize)?.as_mut()
    }

    /// Frees a handle. Panics if it was never given: then memory may be damaged.
    pub fn free(&mut self, handle: u32) {
        self.0[handle as usize] = None;
    }

    /// Removes the value of a handle and frees the handle; `None` if it has no value.
    pub fn take(&mut self, handle: u32) -> Option<T> {
        self.0.get_mut(handle as usize)?.take()
    }
}
