//! [`Matcher`]: stands in one answer, and writes masks into words of the caller's.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use maskwright::{MaskError, Masker, TokenId, Vocabulary};

/// Stop tokens and limit of one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatcherOptions {
    /// The tokens that end the answer, which never stand for text; `None` for the vocabulary's end-of-sequence tokens.
    pub stop_tokens: Option<Vec<TokenId>>,
    /// Number of tokens that the answer may have, the stop token among them; `None` for any number. With a limit, the masks keep an end
    /// within reach, as [`Masker::mask_within`] says.
    pub max_tokens: Option<usize>,
}

/// Errors of matchers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MatcherError {
    /// An error of the engine's masker.
    #[error(transparent)]
    Mask(#[from] MaskError),
    /// The list of stop tokens is empty.
    #[error("there is no stop token: leave the list out for those of the vocabulary")]
    NoStopToken,
    /// A stop token is outside of the vocabulary.
    #[error("stop token {token} is outside of the vocabulary of {len} tokens")]
    StopTokenOutOfRange {
        /// The token.
        token: TokenId,
        /// Size of the vocabulary.
        len: usize,
    },
    /// No answer is known to end within the limit on tokens.
    #[error("max_tokens {max_tokens} are too few: the shortest answer known takes {needed}, its stop token included")]
    TooFewTokens {
        /// The limit.
        max_tokens: usize,
        /// Tokens that an answer takes.
        needed: usize,
    },
    /// Only stop tokens could come next, and the answer cannot end here.
    #[error(
        "no token can come next: all that could are stop tokens of this answer ({stop_tokens:?}), which cannot end here"
    )]
    OnlyStopTokens {
        /// The stop tokens.
        stop_tokens: Vec<TokenId>,
    },
    /// A row has fewer words than the vocabulary needs.
    #[error("a row of {words} words is too short for {tokens} tokens: it takes {needed}")]
    RowTooShort {
        /// Words of the row.
        words: usize,
        /// Size of the vocabulary.
        tokens: usize,
        /// Words needed.
        needed: usize,
    },
    /// There are fewer rows than masks.
    #[error("{rows} rows are too few: the drafted tokens take {needed}")]
    TooFewRows {
        /// Rows that were given.
        rows: usize,
        /// Rows needed.
        needed: usize,
    },
    /// A tree of drafted tokens is not a tree.
    #[error("the draft tree is malformed: {0}")]
    DraftTree(&'static str),
}

/// Drafted tokens as a tree in arrays of equal length. Node 0 is the root, the token that was accepted last.
#[derive(Clone, Copy, Debug)]
pub struct DraftTree<'a> {
    /// For each node its first child, or a negative number.
    pub next_token: &'a [i64],
    /// For each node its next sibling, or a negative number.
    pub next_sibling: &'a [i64],
    /// For each node its token.
    pub tokens: &'a [i64],
}

/// Whether a matcher of a compiled schema has come to a limit of the engine. All matchers of the schema share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LimitReached(Arc<AtomicBool>);

impl LimitReached {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns a result of the engine, and remembers whether it is the error of a limit.
    fn noted<T>(&self, result: Result<T, MaskError>) -> Result<T, MaskError> {
        if let Err(MaskError::LimitExceeded(_)) = result {
            self.0.store(true, Ordering::Relaxed);
        }
        result
    }
}

/// The position in one answer, with the answer's stop tokens and its limit on tokens.
///
/// A mask is written as words of 32 bits: token `t` is bit `t % 32` of word `t / 32`. Words and bits beyond the vocabulary are zero,
/// except in rows of drafted tokens that cannot be reached, where all bits are one.
pub struct Matcher {
    vocabulary: Arc<Vocabulary>,
    masker: Box<dyn Masker>,
    stop_tokens: Arc<[TokenId]>,
    max_tokens: Option<usize>,
    /// The positions behind stop tokens that ended the answer. A structural tag may go on behind one.
    ends: Vec<usize>,
    limit_reached: LimitReached,
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher")
            .field("position", &self.masker.position())
            .field("stop_tokens", &self.stop_tokens)
            .field("max_tokens", &self.max_tokens)
            .finish_non_exhaustive()
    }
}

impl Matcher {
    pub(crate) fn new(
        vocabulary: Arc<Vocabulary>,
        mut masker: Box<dyn Masker>,
        options: &MatcherOptions,
        limit_reached: LimitReached,
    ) -> Result<Self, MatcherError> {
        let stop_tokens: Arc<[TokenId]> = match &options.stop_tokens {
            Some(tokens) => tokens.as_slice().into(),
            None => vocabulary.eos_tokens().into(),
        };
        if stop_tokens.is_empty() {
            return Err(MatcherError::NoStopToken);
        }
        let len = vocabulary.len();
        if let Some(&token) = stop_tokens.iter().find(|token| **token as usize >= len) {
            return Err(MatcherError::StopTokenOutOfRange { token, len });
        }
        if let Some(max_tokens) = options.max_tokens
            && let Some(length) = limit_reached.noted(masker.completion_length())?
            && length + 1 > max_tokens
        {
            let needed = length + 1;
            return Err(MatcherError::TooFewTokens { max_tokens, needed });
        }
        Ok(Self {
            vocabulary,
            masker,
            stop_tokens,
            max_tokens: options.max_tokens,
            ends: Vec::new(),
            limit_reached,
        })
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The tokens that end the answer.
    pub fn stop_tokens(&self) -> &[TokenId] {
        &self.stop_tokens
    }

    /// Accepts a token; false, and nothing changed, where it is not allowed. A limit on tokens narrows masks only, and refuses no token
    /// here.
    ///
    /// # Errors
    ///
    /// [`MatcherError::Mask`], where the engine cannot tell: the answer cannot go on.
    pub fn accept(&mut self, token: TokenId) -> Result<bool, MatcherError> {
        let stops = self.stop_tokens.contains(&token);
        let token = match (stops, self.vocabulary.is_eos(token)) {
            (true, false) if !self.stands_for_itself(token)? => {
                if !self.is_completed()? {
                    return Ok(false);
                }
                // One that a structural tag names may stand for itself.
                let mut ends = self.vocabulary.eos_tokens().iter();
                let end = ends.find(|end| !self.masker.names(**end)).copied();
                end.or(self.vocabulary.eos_tokens().first().copied()).unwrap_or(token)
            }
            // The token ends other answers, not this one, but a structural tag may name it.
            (false, true) if self.is_completed()? => return Ok(false),
            (_, _) => token,
        };
        match self.limit_reached.noted(self.masker.advance(token)) {
            Ok(()) => {
                // A structural tag may name a stop token before its end.
                let is_complete = match stops {
                    true => self.is_completed(),
                    false => Ok(false),
                };
                match is_complete {
                    Ok(is_complete) => {
                        if is_complete {
                            self.ends.push(self.masker.position());
                        }
                        Ok(true)
                    }
                    Err(error) => {
                        self.masker.rollback(1)?;
                        Err(error)
                    }
                }
            }
            Err(MaskError::TokenRefused { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a stop token that ends no sequence elsewhere is a part of the answer here.
    fn stands_for_itself(&mut self, token: TokenId) -> Result<bool, MatcherError> {
        Ok(self.masker.names(token) && self.limit_reached.noted(self.masker.mask())?.allows(token))
    }

    /// Accepts tokens up to the first that is not allowed, and counts them.
    ///
    /// # Errors
    ///
    /// [`MatcherError::Mask`], where the engine cannot tell.
    pub fn accept_all(&mut self, tokens: &[TokenId]) -> Result<usize, MatcherError> {
        for (accepted, token) in tokens.iter().enumerate() {
            if !self.accept(*token)? {
                return Ok(accepted);
            }
        }
        Ok(tokens.len())
    }

    /// Counts the tokens that [`accept_all`](Self::accept_all) would accept. The matcher stays where it is.
    ///
    /// # Errors
    ///
    /// [`MatcherError::Mask`], where the engine cannot tell.
    pub fn validate(&mut self, tokens: &[TokenId]) -> Result<usize, MatcherError> {
        let before = self.position();
        let accepted = self.accept_all(tokens);
        self.go_back(before)?;
        accepted
    }

    /// Writes the mask into the first words of `row`, and zeros into the others. Behind the end of the answer only stop tokens are
    /// allowed. Returns false where every token of the vocabulary is allowed, so that the row need not be applied.
    ///
    /// # Errors
    ///
    /// [`MatcherError::RowTooShort`]; [`MatcherError::OnlyStopTokens`]; [`MatcherError::Mask`] where the engine cannot tell.
    pub fn fill(&mut self, row: &mut [u32]) -> Result<bool, MatcherError> {
        let (tokens, needed) = (self.vocabulary.len(), self.vocabulary.len().div_ceil(32));
        if row.len() < needed {
            let words = row.len();
            return Err(MatcherError::RowTooShort { words, tokens, needed });
        }
        let (row, padding) = row.split_at_mut(needed);
        padding.fill(0);
        let limit = self.tokens_left();
        self.limit_reached.noted(self.masker.write_mask(limit, row))?;
        self.allow_ends(row)?;
        // The end that is planned may be written with a token that ends this answer: no end is known within the limit then.
        if limit.is_some() && row.iter().all(|word| *word == 0) {
            self.limit_reached.noted(self.masker.write_mask(None, row))?;
            self.allow_ends(row)?;
        }
        if row.iter().all(|word| *word == 0) {
            return Err(MatcherError::OnlyStopTokens {
                stop_tokens: self.stop_tokens.to_vec(),
            });
        }
        Ok(!allows_all(row, tokens))
    }

    /// Allows the answer's stop tokens where the mask in `row` allows an end of sequence, and forbids them elsewhere.
    fn allow_ends(&mut self, row: &mut [u32]) -> Result<(), MatcherError> {
        let allows = |token: &TokenId| row[*token as usize / 32] >> (token % 32) & 1 == 1;
        let mut ends = self.is_terminated() || self.vocabulary.eos_tokens().iter().any(allows);
        // A structural tag may name an end of sequence where the answer does not end.
        ends = ends && self.is_completed()?;
        if ends {
            for token in self.vocabulary.eos_tokens() {
                row[*token as usize / 32] &= !(1 << (token % 32));
            }
            for token in self.stop_tokens.iter() {
                row[*token as usize / 32] |= 1 << (token % 32);
            }
        } else if *self.stop_tokens != *self.vocabulary.eos_tokens() {
            // Stop tokens that are no ends of sequence are not allowed before the end, unless a structural tag names them.
            let is_other = |token: &&TokenId| !self.vocabulary.is_eos(**token) && !self.masker.names(**token);
            for token in self.stop_tokens.iter().filter(is_other) {
                row[*token as usize / 32] &= !(1 << (token % 32));
            }
        }
        Ok(())
    }

    /// Whether the token accepted last is a stop token that ended the answer.
    pub fn is_terminated(&self) -> bool {
        self.ends.last() == Some(&self.masker.position())
    }

    /// Whether the answer may end here, or has ended.
    ///
    /// # Errors
    ///
    /// [`MatcherError::Mask`], where the engine cannot tell.
    pub fn is_completed(&mut self) -> Result<bool, MatcherError> {
        Ok(self.limit_reached.noted(self.masker.is_complete())?)
    }

    /// Sets how many tokens the answer may have, those accepted and the stop token among them; none: any number. Unlike
    /// [`MatcherOptions::max_tokens`] this is never refused: where no end is known within the limit, masks are those without one.
    /// Servers call it where reasoning precedes the answer: only then is it known how much of a request's limit is left.
    pub fn set_max_tokens(&mut self, max_tokens: Option<usize>) {
        self.max_tokens = max_tokens;
    }

    /// The number of tokens that the answer may still have, the stop token among them; none without a limit.
    fn tokens_left(&self) -> Option<usize> {
        self.max_tokens.map(|most| most.saturating_sub(self.masker.position()))
    }

    /// Number of tokens accepted and not taken back.
    pub fn position(&self) -> usize {
        self.masker.position()
    }

    /// Takes back the last `tokens` accepted tokens, a stop token among them.
    ///
    /// # Errors
    ///
    /// [`MaskError::RollbackTooFar`], where fewer were accepted.
    pub fn rollback(&mut self, tokens: usize) -> Result<(), MatcherError> {
        self.masker.rollback(tokens)?;
        let position = self.masker.position();
        self.ends.retain(|end| *end <= position);
        Ok(())
    }

    /// Goes back to an earlier [`position`](Self::position).
    fn go_back(&mut self, position: usize) -> Result<(), MatcherError> {
        self.rollback(self.masker.position() - position)
    }

    /// Goes back to the start of the answer.
    ///
    /// # Errors
    ///
    /// [`MatcherError::Mask`], where the engine cannot go back.
    pub fn reset(&mut self) -> Result<(), MatcherError> {
        self.rollback(self.masker.position())
    }

    /// A copy at the same place, which goes its own way.
    ///
    /// # Errors
    ///
    /// [`MatcherError::Mask`], where the engine cannot tell.
    pub fn fork(&self) -> Result<Self, MatcherError> {
        Ok(Self {
            vocabulary: self.vocabulary.clone(),
            masker: self.masker.fork()?,
            stop_tokens: self.stop_tokens.clone(),
            max_tokens: self.max_tokens,
            ends: self.ends.clone(),
            limit_reached: self.limit_reached.clone(),
        })
    }

    /// The tokens that must come next whatever is sampled, as the tokenizer writes them; none without one. Under a limit on tokens those up to
    /// the first that the mask leaves out: where few tokens are left, others have to spell the text.
    ///
    /// # Errors
    ///
    /// [`MatcherError::Mask`], where the engine cannot tell.
    pub fn forced_tokens(&mut self) -> Result<Vec<TokenId>, MatcherError> {
        let mut tokens = Vec::new();
        self.limit_reached.noted(self.masker.forced_tokens(&mut tokens))?;
        if self.max_tokens.is_some() && !tokens.is_empty() {
            let before = self.position();
            let in_time = self.count_in_time(&tokens);
            self.go_back(before)?;
            tokens.truncate(in_time?);
        }
        Ok(tokens)
    }

    /// Accepts tokens that are allowed without a limit up to the first that the mask leaves out under the limit, and counts them.
    fn count_in_time(&mut self, tokens: &[TokenId]) -> Result<usize, MatcherError> {
        let before = self.position();
        for token in tokens {
            self.limit_reached.noted(self.masker.advance(*token))?;
        }
        // Where the end behind all of them is in time, so is the end behind each, and no mask is needed.
        let length = self.limit_reached.noted(self.masker.completion_length())?;
        if length.is_some_and(|length| self.tokens_left().is_none_or(|left| length < left)) {
            return Ok(tokens.len());
        }
        self.go_back(before)?;
        for (accepted, token) in tokens.iter().enumerate() {
            let left = self.tokens_left().unwrap_or(usize::MAX);
            let mask = self.limit_reached.noted(self.masker.mask_within(left))?;
            if !mask.allows(*token) {
                return Ok(accepted);
            }
            self.limit_reached.noted(self.masker.advance(*token))?;
        }
        Ok(tokens.len())
    }

    /// The text that must come next whatever is sampled, without a character that is not whole.
    ///
    /// # Errors
    ///
    /// [`MatcherError::Mask`], where the engine cannot tell.
    pub fn forced_text(&mut self) -> Result<String, MatcherError> {
        let mut bytes = Vec::new();
        self.limit_reached.noted(self.masker.forced_text(&mut bytes))?;
        let whole = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Ok(whole.to_owned())
    }

    /// Tokens that end the answer from here, without the stop token: a short way. None where no such way is known.
    ///
    /// # Errors
    ///
    /// [`MatcherError::Mask`], where the engine cannot tell.
    pub fn completion(&mut self) -> Result<Option<Vec<TokenId>>, MatcherError> {
        let mut tokens = Vec::new();
        let is_known = self.limit_reached.noted(self.masker.completion(&mut tokens))?;
        Ok(is_known.then_some(tokens))
    }

    /// Fills the row of the current state, and one more for the state behind each of the drafted tokens, up to the first that is not allowed;
    /// later rows allow every token, because tokens sampled there are discarded. The matcher stays in its state. Returns the
    /// number of drafted tokens that are allowed. There is one more row in `rows` than tokens in `drafted`, each of `words` words.
    ///
    /// # Errors
    ///
    /// [`MatcherError::TooFewRows`], [`MatcherError::RowTooShort`]; [`MatcherError::OnlyStopTokens`] for the current state; [`MatcherError::Mask`]
    /// where the engine cannot tell.
    pub fn fill_drafted(&mut self, drafted: &[TokenId], rows: &mut [u32], words: usize) -> Result<usize, MatcherError> {
        check_rows(rows, words, drafted.len() + 1)?;
        let before = self.position();
        let mut filled = 0;
        let mut result = Ok(());
        for (number, row) in rows.chunks_mut(words.max(1)).take(drafted.len() + 1).enumerate() {
            let is_reached = match number {
                0 => Ok(true),
                _ if filled == number => self.accept(drafted[number - 1]),
                _ => Ok(false),
            };
            let is_reached = match is_reached {
                Ok(is_reached) => is_reached,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            };
            if !is_reached {
                row.fill(u32::MAX);
                continue;
            }
            let row = match number {
                0 => self.fill(row).map(drop),
                _ => self.fill_behind_draft(row),
            };
            if let Err(error) = row {
                result = Err(error);
                break;
            }
            filled += 1;
        }
        self.go_back(before)?;
        result.map(|()| filled.saturating_sub(1))
    }

    /// Fills one row for each node of a tree of drafted tokens: the mask behind the way to that node. Rows of nodes that cannot be
    /// reached allow every token. True where every node can be. The matcher stays where it is. `rows` has `words` words for each node.
    ///
    /// # Errors
    ///
    /// [`MatcherError::DraftTree`], [`MatcherError::TooFewRows`], [`MatcherError::RowTooShort`]; [`MatcherError::OnlyStopTokens`] for the current
    /// state; [`MatcherError::Mask`] where the engine cannot tell.
    pub fn fill_tree(&mut self, tree: DraftTree<'_>, rows: &mut [u32], words: usize) -> Result<bool, MatcherError> {
        let nodes = tree.tokens.len();
        if tree.next_token.len() != nodes || tree.next_sibling.len() != nodes {
            return Err(MatcherError::DraftTree("the arrays have different lengths"));
        }
        check_rows(rows, words, nodes)?;
        let before = self.position();
        rows[..nodes * words].fill(u32::MAX);
        let filled = self.fill_nodes(tree, rows, words);
        self.go_back(before)?;
        Ok(filled? == nodes)
    }

    /// Fills the row of a state behind drafted tokens, which may not come to be: where only stop tokens could come next, it allows nothing.
    fn fill_behind_draft(&mut self, row: &mut [u32]) -> Result<(), MatcherError> {
        match self.fill(row) {
            Ok(_) | Err(MatcherError::OnlyStopTokens { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Fills the rows of the nodes that can be reached, and counts them.
    fn fill_nodes(&mut self, tree: DraftTree<'_>, rows: &mut [u32], words: usize) -> Result<usize, MatcherError> {
        let nodes = tree.tokens.len();
        let mut visited = vec![false; nodes];
        let mut filled = 0;
        // Nodes still to visit, with the position of the matcher before their token.
        let start = self.masker.position();
        let mut open = Vec::from_iter((nodes > 0).then_some((0, start)));
        while let Some((node, position)) = open.pop() {
            if std::mem::replace(&mut visited[node], true) {
                return Err(MatcherError::DraftTree("a node is reached twice"));
            }
            self.go_back(position)?;
            let link = |links: &[i64]| match usize::try_from(links[node]) {
                Ok(to) if to >= nodes => Err(MatcherError::DraftTree("a link leads outside of the tree")),
                to => Ok(to.ok()),
            };
            if let Some(sibling) = link(tree.next_sibling)? {
                open.push((sibling, position));
            }
            let token = TokenId::try_from(tree.tokens[node]).unwrap_or(TokenId::MAX);
            if node > 0 && !self.accept(token)? {
                continue;
            }
            let row = &mut rows[node * words..(node + 1) * words];
            match node {
                0 => self.fill(row).map(drop)?,
                _ => self.fill_behind_draft(row)?,
            }
            filled += 1;
            if let Some(child) = link(tree.next_token)? {
                open.push((child, self.masker.position()));
            }
        }
        Ok(filled)
    }
}

/// Refuses `rows` that have fewer than `needed` rows of `words` words.
fn check_rows(rows: &[u32], words: usize, needed: usize) -> Result<(), MatcherError> {
    let rows = rows.len() / words.max(1);
    match rows < needed {
        true => Err(MatcherError::TooFewRows { rows, needed }),
        false => Ok(()),
    }
}

/// Whether a row allows each of so many tokens.
fn allows_all(row: &[u32], tokens: usize) -> bool {
    let (full, rest) = row.split_at(tokens / 32);
    full.iter().all(|word| *word == u32::MAX)
        && rest
            .first()
            .is_none_or(|word| word.count_ones() as usize == tokens % 32)
}
