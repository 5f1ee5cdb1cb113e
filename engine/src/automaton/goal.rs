//! [`Goal`]: what is asked of a value; [`Constraint`]: what a goal means for each type of value.

use hashbrown::HashMap;

use super::formula::FormulaId;
use crate::json::Value;
use crate::numbers::NumberSetId;
use crate::schema::NodeId;
use crate::strings::LanguageId;

/// A goal. Equal ids are equal goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct GoalId(pub(crate) u32);

/// What is asked of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Goal {
    /// Nothing: every value will do.
    Anything,
    /// No value will do.
    Nothing,
    /// That it is valid under a subschema.
    Node(NodeId),
    /// That it equals a value.
    Equal(Value),
    /// That it satisfies at least one of these.
    AnyOf(Box<[GoalId]>),
}

/// The goals of one compilation.
#[derive(Debug)]
pub(crate) struct Goals {
    goals: Vec<Goal>,
    ids: HashMap<Goal, GoalId>,
}

impl Default for Goals {
    fn default() -> Self {
        let mut goals = Self {
            goals: Vec::new(),
            ids: HashMap::new(),
        };
        goals.intern(Goal::Anything);
        goals.intern(Goal::Nothing);
        goals
    }
}

impl GoalId {
    /// Every value will do.
    pub(crate) const ANYTHING: Self = Self(0);
    /// No value will do.
    pub(crate) const NOTHING: Self = Self(1);
}

impl Goals {
    /// Makes room for so many more.
    pub(crate) fn reserve(&mut self, goals: usize) {
        self.goals.reserve(goals);
        self.ids.reserve(goals);
    }

    /// The id of a goal.
    pub(crate) fn intern(&mut self, goal: Goal) -> GoalId {
        if let Some(&id) = self.ids.get(&goal) {
            return id;
        }
        let id = GoalId(self.goals.len() as u32);
        self.goals.push(goal.clone());
        self.ids.insert(goal, id);
        id
    }

    /// Number of goals.
    pub(crate) fn len(&self) -> usize {
        self.goals.len()
    }

    /// The goal of an id.
    pub(crate) fn get(&self, id: GoalId) -> &Goal {
        &self.goals[id.0 as usize]
    }
}

/// What a goal means for each type of value. The first byte of a value tells its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Constraint {
    /// Whether `null` will do.
    pub null: bool,
    /// Whether `true` will do.
    pub yes: bool,
    /// Whether `false` will do.
    pub no: bool,
    /// The numbers that will do.
    pub numbers: NumberSetId,
    /// The strings that will do.
    pub strings: LanguageId,
    /// What an array must satisfy.
    pub arrays: FormulaId,
    /// What an object must satisfy.
    pub objects: FormulaId,
}
