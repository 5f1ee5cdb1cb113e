//! The keys that may come next in an object for which several rival orders of keys are still possible: the union over these orders.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Rival, TextId};
use crate::automaton::search::{NextKeys, Search};
use hashbrown::HashSet;

impl Search {
    /// The keys that may come next in at least one of several orders, given the keys seen. The list `listed` is sorted by
    /// characters and saves sorting.
    pub(crate) fn next_keys_of_rivals(
        &mut self,
        rivals: &[Rival],
        seen: &[TextId],
        listed: &[TextId],
    ) -> Result<NextKeys, AutomatonError> {
        let mut these: HashSet<TextId> = HashSet::new();
        let mut all_but: Option<HashSet<TextId>> = None;
        let mut languages = Vec::new();
        for rival in rivals {
            let names = self.algebra.orders.orders[rival.order.0 as usize].clone();
            let (done, ahead) = names.split_at(rival.passed as usize);
            let others = done.iter().filter(|name| !seen.contains(name));
            let exhausted = seen.iter().chain(others).copied().collect();
            match self.next_keys_after(rival.demand, ahead, (exhausted, false), listed)? {
                NextKeys::Listed(list) => {
                    let list = self.key_list(list);
                    let names = list.names.iter().copied();
                    match (list.excludes, &mut all_but) {
                        (false, _) => these.extend(names),
                        (true, None) => all_but = Some(names.collect()),
                        (true, Some(excluded)) => {
                            let names: HashSet<TextId> = names.collect();
                            excluded.retain(|name| names.contains(name));
                        }
                    }
                }
                NextKeys::Language(language) => languages.push(language),
                other => debug_assert_eq!(other, NextKeys::None, "keys seen are subtracted at once"),
            }
        }
        if let Some(excluded) = &mut all_but {
            excluded.retain(|name| !these.contains(name));
        }
        if languages.is_empty() {
            return match all_but {
                Some(excluded) => self.listed(excluded.into_iter().collect(), true, listed),
                None => self.listed(these.into_iter().collect(), false, listed),
            };
        }
        if let Some(excluded) = all_but {
            let excluded: Vec<TextId> = excluded.into_iter().collect();
            let any = self.algebra.languages.any();
            languages.push(self.algebra.without_keys(any, &excluded)?);
        }
        let language = self.algebra.languages.or(&languages)?;
        let these: Vec<TextId> = these.into_iter().collect();
        Ok(NextKeys::Language(self.algebra.with_keys(language, &these)?))
    }
}
