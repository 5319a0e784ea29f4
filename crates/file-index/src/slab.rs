//! Values by small numbers that are given again.

/// Values, each with a number until it is taken out.
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

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    /// One more than the largest number that was given.
    pub(crate) fn bound(&self) -> usize {
        self.values.len()
    }

    /// How many bytes are held, what the values point at apart.
    pub(crate) fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<Option<T>>() + self.free.capacity() * size_of::<u32>()
    }
}
