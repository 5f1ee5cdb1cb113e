//! [`Orders`]: the arena of prescribed orders of keys, each stored once.

use super::meant::MeantTypes;
use crate::automaton::formula::{AssertionId, FormulaId, TextId};
use crate::automaton::memory::{list_bytes, table_bytes};
use crate::schema::NodeId;
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// The number of a prescribed order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OrderId(pub(crate) u32);

/// One of several orders of keys that a document may keep, because the alternatives that an object may satisfy put the same
/// keys in different orders. Which of them it keeps shows as its members come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rival {
    /// The condition on the members to come if the document keeps this order. Before an object has begun, it is the condition
    /// that the order adds to the one on the object.
    pub(crate) demand: FormulaId,
    /// The number of the order itself, which has no rivals of its own.
    pub(crate) order: OrderId,
    /// Number of keys of the order that have been read or skipped.
    pub(crate) passed: u32,
}

/// One of the ways in which an object may satisfy an assertion, with the keys that the subschemas declare that apply then.
#[derive(Clone, Debug)]
pub(crate) struct Alternative {
    /// The condition on the object that tells the alternative from others; true where there is only one.
    pub(crate) demand: FormulaId,
    /// The keys that are declared, by `properties` or as those of a value, in the order in which they are written.
    pub(crate) names: Vec<TextId>,
    /// Keys that are required, or named as dependent on others.
    pub(crate) required: Vec<TextId>,
    /// The declared keys that a style may ask for if it asks for all members: a member with one of them can be finite.
    pub(crate) wanted: Vec<TextId>,
    /// Whether a subschema speaks of keys that it does not name.
    pub(crate) speaks_of_others: bool,
    /// Whether a subschema speaks of objects.
    pub(crate) is_of_objects: bool,
    /// Whether this stands for several alternatives that disagree in the order of their keys, so that `names` may be the order of
    /// none of them.
    pub(crate) is_mixed: bool,
}

/// The assertions that tell the order of the keys of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ordered {
    /// The assertions that the object satisfies.
    pub(crate) all: Box<[AssertionId]>,
    /// Assertions of which it is not known whether the object satisfies them.
    pub(crate) others: Box<[AssertionId]>,
    /// Whether the object satisfies one at least of the others.
    pub(crate) satisfies_other: bool,
}

/// All orders of keys of one compiled schema, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    /// The keys of each order; empty for the orders that have rivals.
    pub(crate) orders: Vec<Arc<[TextId]>>,
    /// For each order its rivals, of which a document keeps one; empty if there is only the order itself.
    rivals: Vec<Arc<[Rival]>>,
    ids: HashMap<Arc<[TextId]>, OrderId>,
    contested: HashMap<Arc<[Rival]>, OrderId>,
    /// For an order that asks for more than the schema does, the condition that it adds to the formula of an object.
    narrowings: HashMap<OrderId, FormulaId>,
    /// For an order that asks for more than the schema does, the fallback order of objects that cannot meet this demand; the fallback asks for
    /// less, but perhaps still for more than the schema.
    pub(crate) opened: HashMap<OrderId, OrderId>,
    /// The order in an object with these assertions.
    pub(crate) of: HashMap<Ordered, OrderId>,
    /// The assertions for which [`of`](Self::of) has an order that may be that of none of the alternatives.
    pub(crate) mixed: HashSet<Ordered>,
    /// The alternatives that an assertion leaves to an object, with the keys that each declares.
    pub(super) alternatives: HashMap<AssertionId, Arc<[Alternative]>>,
    /// The types that a value is meant to have that satisfies an assertion; filled only where the style closes objects.
    pub(super) meant: HashMap<AssertionId, MeantTypes>,
    /// For each subschema whether some value visibly has all members that are declared; empty until it is asked for.
    pub(super) complete: Vec<bool>,
    /// Number of keys in `alternatives`.
    pub(super) listed: usize,
    /// The order in which the first `const` or `enum` that has an object writes its members, by the assertion of being equal to it.
    pub(super) written: HashMap<AssertionId, Arc<[TextId]>>,
    /// The spellings that a subschema gives arrays and objects of its `const` or `enum`, by the assertion of being equal to such
    /// a value: further assertions of equality, which say how members are ordered.
    pub(super) listed_as: HashMap<(NodeId, AssertionId), Vec<AssertionId>>,
}

impl Orders {
    /// Bytes of memory that the orders take.
    pub(crate) fn memory(&self) -> usize {
        let names = self.orders.iter().map(|names| size_of_val(&**names));
        let rivals = self.rivals.iter().map(|rivals| size_of_val(&**rivals));
        let written = self.written.values().map(|names| size_of_val(&**names));
        list_bytes(&self.orders)
            + list_bytes(&self.rivals)
            + table_bytes(&self.ids)
            + table_bytes(&self.contested)
            + table_bytes(&self.narrowings)
            + table_bytes(&self.opened)
            + table_bytes(&self.of)
            + table_bytes(&self.alternatives)
            + table_bytes(&self.meant)
            + list_bytes(&self.complete)
            + table_bytes(&self.written)
            + size_of::<TextId>() * self.listed
            + names.chain(rivals).chain(written).sum::<usize>()
    }

    /// The id of an order of keys, which is added if it is new.
    pub(crate) fn intern(&mut self, names: Vec<TextId>) -> OrderId {
        let names: Arc<[TextId]> = names.into();
        if let Some(&id) = self.ids.get(&names) {
            return id;
        }
        let id = self.add(names.clone(), Arc::default());
        self.ids.insert(names, id);
        id
    }

    /// The id of several orders of which a document keeps one. There must be at least two.
    pub(crate) fn intern_rivals(&mut self, rivals: Vec<Rival>) -> OrderId {
        let rivals: Arc<[Rival]> = rivals.into();
        if let Some(&id) = self.contested.get(&rivals) {
            return id;
        }
        let id = self.add(Arc::default(), rivals.clone());
        self.contested.insert(rivals, id);
        id
    }

    /// A new id of several orders of which a document keeps one, that ask for more than the schema does. It is not shared: the
    /// order of objects that cannot meet these orders depends on the object.
    pub(super) fn add_rivals(&mut self, rivals: Vec<Rival>) -> OrderId {
        self.add(Arc::default(), rivals.into())
    }

    /// A new id of an order of keys that asks for more than the schema does, with the condition that it adds.
    pub(super) fn intern_narrowing(&mut self, names: Vec<TextId>, narrowing: FormulaId) -> OrderId {
        let id = self.add(names.into(), Arc::default());
        self.narrowings.insert(id, narrowing);
        id
    }

    /// Whether an order leaves any keys in any order to every object.
    pub(crate) fn is_free(&self, order: OrderId) -> bool {
        self.orders[order.0 as usize].is_empty()
            && self.rivals(order).is_empty()
            && self.narrowing(order) == FormulaId::TRUE
    }

    /// The condition that an order adds to the one on an object when the object begins; true for most orders.
    pub(crate) fn narrowing(&self, order: OrderId) -> FormulaId {
        self.narrowings.get(&order).copied().unwrap_or(FormulaId::TRUE)
    }

    /// The order of objects that cannot meet the condition which this order adds; the order itself if it adds none.
    pub(crate) fn opened(&self, order: OrderId) -> OrderId {
        self.opened.get(&order).copied().unwrap_or(order)
    }

    fn add(&mut self, names: Arc<[TextId]>, rivals: Arc<[Rival]>) -> OrderId {
        let id = OrderId(self.orders.len() as u32);
        self.orders.push(names);
        self.rivals.push(rivals);
        id
    }

    /// The orders of which a document keeps one; empty if there is only one.
    pub(crate) fn rivals(&self, order: OrderId) -> &Arc<[Rival]> {
        &self.rivals[order.0 as usize]
    }

    /// All keys of an order, or of all of its rivals.
    pub(crate) fn all_keys(&self, order: OrderId) -> Vec<TextId> {
        let mut names = self.orders[order.0 as usize].to_vec();
        for rival in self.rivals(order).iter() {
            names.extend_from_slice(&self.orders[rival.order.0 as usize]);
        }
        names
    }
}

/// An order that agrees with all of some lists of keys, none of which has a key twice; `None` if there is none. Where the
/// lists leave it open which key comes first, it is the one listed first.
pub(super) fn merged<'a>(lists: impl IntoIterator<Item = &'a [TextId]>) -> Option<Vec<TextId>> {
    let lists: Vec<&[TextId]> = lists.into_iter().collect();
    let names = first_listed(lists.iter().copied());
    if lists.len() < 2 {
        return Some(names);
    }
    let places: HashMap<TextId, usize> = names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
    let (mut before, mut behind) = (vec![0_u32; names.len()], vec![Vec::new(); names.len()]);
    for pair in lists.iter().flat_map(|list| list.windows(2)) {
        let (first, second) = (places[&pair[0]], places[&pair[1]]);
        behind[first].push(second);
        before[second] += 1;
    }
    let free = (0..names.len()).filter(|place| before[*place] == 0);
    let mut free: BinaryHeap<Reverse<usize>> = free.map(Reverse).collect();
    let mut order = Vec::with_capacity(names.len());
    while let Some(Reverse(place)) = free.pop() {
        order.push(names[place]);
        for &next in &behind[place] {
            before[next] -= 1;
            if before[next] == 0 {
                free.push(Reverse(next));
            }
        }
    }
    (order.len() == names.len()).then_some(order)
}

/// The keys of some lists, each where it is listed first.
pub(super) fn first_listed<'a>(lists: impl IntoIterator<Item = &'a [TextId]>) -> Vec<TextId> {
    let mut listed = HashSet::new();
    let names = lists.into_iter().flatten().copied();
    names.filter(|name| listed.insert(*name)).collect()
}
