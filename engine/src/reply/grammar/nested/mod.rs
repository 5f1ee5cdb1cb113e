//! Grammars with *nested* rules (those not known to be regular, mostly self-embedding), compiled to a deterministic pushdown automaton with one
//! byte of lookahead.
//!
//! ```text
//! rules ─ skeleton.rs ─► graphs of texts and calls ─ recursion.rs ─► no left or tail recursion
//!   ─ bodies.rs ─► deterministic automata ─ machine.rs ─► automata over bytes, with a stack of calls ─ masks.rs ─► token masks
//! ```
//!
//! A reply has one parse at any time: the next byte tells whether it continues the current rule, begins a call of another rule, or follows
//! the current rule. A grammar for which no such automata are found is refused when it is compiled. Parts of rules that cannot lead to the end of
//! a reply are removed first, so every state can be completed. A byte opens at most as many calls as there are rules, and closes open calls only.

mod bodies;
mod conflicts;
mod ends;
mod first;
mod items;
mod machine;
mod masks;
mod recursion;
mod replies;
mod skeleton;
mod stacks;

use crate::mask::masker::StateMasker;
use crate::reply::ReplyCompiler;
use crate::strings::{LanguageId, Languages};
use crate::{CompileError, Masker};

use super::regular::RegularRules;
use super::rules::Grammar;
use bodies::BodyBuilder;
use first::FirstBytes;
use machine::Machine;
use replies::NestedReplies;
use skeleton::{REPLY, Skeleton};

/// Compiles a grammar whose root is not regular. `rules` are its regular rules, `within` the language of the texts that tokens can spell, if not all.
///
/// # Errors
///
/// [`Unsupported`](crate::CompileErrorKind::Unsupported), where one byte of lookahead does not determine the parse;
/// [`Unsatisfiable`](crate::CompileErrorKind::Unsatisfiable), where the grammar has no text; or
/// [`LimitExceeded`](crate::CompileErrorKind::LimitExceeded).
pub(super) fn compile(
    compiler: &ReplyCompiler,
    grammar: &Grammar,
    rules: &RegularRules,
    languages: &mut Languages,
    within: Option<LanguageId>,
) -> Result<Box<dyn Masker>, CompileError> {
    let mut skeleton = Skeleton::new(grammar, rules, languages, within)?;
    if !skeleton.trim() && !skeleton.may_be_empty(REPLY) {
        return Err(super::no_text());
    }
    skeleton.without_recursion_at_ends()?;
    let first = FirstBytes::new(&skeleton, languages)?;
    let bodies = BodyBuilder::new(&skeleton, languages, &first).find()?;
    let machine = Machine::new(&bodies, &first)?;
    let memory = compiler.options.schema.limits.memory_bytes;
    let replies = NestedReplies::new(compiler.vocabulary.clone(), compiler.json_tokens(), machine, memory);
    let start = replies.start();
    Ok(Box::new(StateMasker::new(replies, start)))
}
