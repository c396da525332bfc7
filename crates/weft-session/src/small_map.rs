/// Map with few entries, sorted by key.
///
/// A session has few paths, at most dozens of streams, and few frames at a time. Every packet
/// looks up one of each, and iterates over all paths: a sorted vector takes a fraction of the
/// time of a tree.
#[derive(Debug)]
pub(crate) struct SmallMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> SmallMap<K, V> {
        SmallMap(Vec::new())
    }
}

impl<K: Copy + Ord, V> SmallMap<K, V> {
    pub fn get(&self, key: &K) -> Option<&V> {
        Some(&self.0[self.place(key)?].1)
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let place = self.place(key)?;
        Some(&mut self.0[place].1)
    }

    fn place(&self, key: &K) -> Option<usize> {
        // Among so few, linear search is faster than binary search.
        const FEW: usize = 4;
        match self.0.len() <= FEW {
            true => self.0.iter().position(|(k, _)| k == key),
            false => self.0.binary_search_by(|(k, _)| k.cmp(key)).ok(),
        }
    }

    /// Returns the value for this key, which `make` creates if it does not exist.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        // Later keys come later, as a rule.
        let before = self.0.iter().rposition(|(k, _)| *k < key);
        let place = before.map_or(0, |before| before + 1);
        if self.0.get(place).is_none_or(|(k, _)| *k != key) {
            self.0.insert(place, (key, make()));
        }
        &mut self.0[place].1
    }

    pub fn insert(&mut self, key: K, value: V) {
        self.remove(&key);
        self.get_or_insert_with(key, || value);
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.place(key)?;
        Some(self.0.remove(place).1)
    }

    /// Returns the entry with the lowest key.
    pub fn first(&self) -> Option<&(K, V)> {
        self.0.first()
    }

    /// Removes the entry with the lowest key if `is` returns true.
    pub fn pop_first_if(&mut self, is: impl Fn(&K, &V) -> bool) -> Option<(K, V)> {
        let pops = self.first().is_some_and(|(key, value)| is(key, value));
        pops.then(|| self.0.remove(0))
    }

    /// Returns the values of the keys strictly between these two.
    pub fn between(&self, after: K, before: K) -> impl Iterator<Item = &V> {
        let later = self.0.iter().skip_while(move |(key, _)| *key <= after);
        let between = later.take_while(move |(key, _)| *key < before);
        between.map(|(_, value)| value)
    }

    /// Keeps the entries for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the key at this position.
    pub fn key_at(&self, place: usize) -> Option<K> {
        self.0.get(place).map(|(key, _)| *key)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }

    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::SmallMap;

    #[test]
    fn entries_stand_in_the_order_of_their_keys_once_each() {
        let mut map = SmallMap::default();
        for key in [3, 1, 2, 1] {
            map.insert(key, key * 10);
        }
        *map.get_or_insert_with(2, || 0) += 1;
        map.get_or_insert_with(0, || 5);
        let all: Vec<(i32, i32)> = map.iter().map(|(k, v)| (*k, *v)).collect();
        assert_eq!(all, [(0, 5), (1, 10), (2, 21), (3, 30)]);
        assert_eq!(map.remove(&1), Some(10));
        assert_eq!((map.get(&1), map.get(&3)), (None, Some(&30)));
        assert_eq!((map.key_at(1), map.key_at(3)), (Some(2), None));
        for key in (4..40).rev() {
            map.insert(key, key * 10);
        }
        assert!(map.keys().is_sorted());
        assert!((4..40).all(|key| map.get(&key) == Some(&(key * 10))));
        assert_eq!((map.get(&1), map.get(&40)), (None, None));
    }

    #[test]
    fn the_first_entries_leave_and_those_between_two_keys_are_found() {
        let mut map = SmallMap::default();
        for key in [5, 2, 9, 7] {
            map.insert(key, key * 10);
        }
        let between = |map: &SmallMap<i32, i32>, after, before| -> Vec<i32> {
            map.between(after, before).copied().collect()
        };
        assert_eq!(between(&map, 2, 9), [50, 70]);
        assert_eq!(between(&map, 1, 6), [20, 50]);
        assert_eq!(between(&map, 9, 2), []);
        assert_eq!(map.pop_first_if(|key, _| *key < 2), None);
        assert_eq!(map.pop_first_if(|key, _| *key < 3), Some((2, 20)));
        assert_eq!(map.first(), Some(&(5, 50)));
        map.clear();
        assert_eq!(map.pop_first_if(|_, _| true), None);
    }
}
