//! Dense entity tables: a `u32` newtype as key, a vector as storage.
//!
//! An id is only meaningful together with the table that handed it out; tables never shrink, so ids stay valid.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A key of an [`EntityVec`].
pub trait Entity: Copy + Eq {
    /// The id of the entry at `index`.
    fn from_index(index: usize) -> Self;
    /// The position of this entry in its table.
    fn index(self) -> usize;
}

/// Declares a `u32` newtype that implements [`Entity`] and prints as `prefix` followed by its index.
#[macro_export]
macro_rules! entity_id {
    ($(#[$meta:meta])* $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $crate::base::entity::Entity for $name {
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).expect("entity tables stay below 2^32 entries"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}
pub use entity_id;

/// A vector indexed by entity ids.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct EntityVec<K, V> {
    entries: Vec<V>,
    key: PhantomData<K>,
}

impl<K: Entity, V> EntityVec<K, V> {
    /// An empty table.
    pub fn new() -> Self {
        EntityVec { entries: Vec::new(), key: PhantomData }
    }
    /// Appends an entry and returns its id.
    pub fn push(&mut self, value: V) -> K {
        self.entries.push(value);
        K::from_index(self.entries.len() - 1)
    }
    /// Drops the entries after the first so many.
    pub fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
    }
    /// A table of so many entries: the first of this one, then `value`.
    pub fn resize(&mut self, len: usize, value: V)
    where
        V: Clone,
    {
        self.entries.resize(len, value);
    }
    /// A table with the same ids whose entries are all `value`.
    pub fn same_ids<W: Clone>(&self, value: W) -> EntityVec<K, W> {
        EntityVec { entries: vec![value; self.entries.len()], key: PhantomData }
    }
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    /// True when nothing was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// The id that the next [`push`](Self::push) will return.
    pub fn next_id(&self) -> K {
        K::from_index(self.entries.len())
    }
    /// The entry of `id`, or `None` when the table has no such entry.
    pub fn get(&self, id: K) -> Option<&V> {
        self.entries.get(id.index())
    }
    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, V> {
        (0..self.entries.len()).map(K::from_index)
    }
    /// All entries in order.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.entries.iter()
    }
    /// All entries in order, mutably.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, V> {
        self.entries.iter_mut()
    }
    /// All ids with their entries, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> {
        self.entries.iter().enumerate().map(|(i, v)| (K::from_index(i), v))
    }
}

impl<K: Entity, V> Default for EntityVec<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Entity, V> Index<K> for EntityVec<K, V> {
    type Output = V;
    fn index(&self, id: K) -> &V {
        &self.entries[id.index()]
    }
}

impl<K: Entity, V> IndexMut<K> for EntityVec<K, V> {
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.entries[id.index()]
    }
}

impl<K: Entity, V> FromIterator<V> for EntityVec<K, V> {
    fn from_iter<I: IntoIterator<Item = V>>(iter: I) -> Self {
        EntityVec { entries: iter.into_iter().collect(), key: PhantomData }
    }
}
