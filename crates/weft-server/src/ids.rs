use crate::secret::unguessable;
use std::sync::Arc;

/// Source of participant ids: random and unpredictable; counted in tests.
#[derive(Clone)]
pub(crate) struct Ids(Arc<dyn Fn() -> String + Send + Sync>);

/// Hexadecimal digits of an id: 64 bits, since an id gives no access.
const DIGITS: usize = 16;

impl Ids {
    pub(crate) fn random() -> Ids {
        Ids(Arc::new(|| format!("p{}", &unguessable()[..DIGITS])))
    }

    #[cfg(any(test, fuzzing))]
    pub(crate) fn counted() -> Ids {
        let next = std::sync::atomic::AtomicU64::new(1);
        let count = move || next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ids(Arc::new(move || format!("p{}", count())))
    }

    pub(crate) fn fresh(&self) -> String {
        (self.0)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_of_participants_are_not_to_be_guessed() {
        let ids = Ids::random();
        let all: BTreeSet<String> = (0..100).map(|_| ids.fresh()).collect();
        assert_eq!(all.len(), 100);
        assert!(all.iter().all(|id| id.len() == 1 + DIGITS));
    }
}
