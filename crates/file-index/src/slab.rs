//! A slab: values addressed by small, reusable numbers.

/// A slab of values. A removed value's number is reused.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { values: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.values[number as usize] = Some(value);
                number
            }
            None => {
                self.values.push(Some(value));
                self.values.len() as u32 - 1
            }
        }
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        let value = self.values.get_mut(number as usize)?.take()?;
        // Reusing numbers keeps the vector as long as the greatest number of live values.
        self.free.push(number);
        Some(value)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.values.get(number as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.values.get_mut(number as usize)?.as_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.values.iter().enumerate().filter_map(|(number, value)| Some((number as u32, value.as_ref()?)))
    }

    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// Returns the exclusive upper bound of the numbers in use.
    pub(crate) fn bound(&self) -> usize {
        self.values.len()
    }

    /// Returns the number of bytes held, without those that the values point at.
    pub(crate) fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<Option<T>>() + self.free.capacity() * size_of::<u32>()
    }
}
