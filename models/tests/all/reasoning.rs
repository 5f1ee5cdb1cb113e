//! Reasoning before an answer, and how chat templates are told to let models reason.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candle_core::{Device, Tensor};
use maskwright::{Compiler as _, ExactCompiler, ExactOptions, TokenId};
use maskwright_models::{
    Constraint, DecodeOptions, Family, FinishReason, Generation, LanguageModel, LoadOptions, LoadedModel, Message,
    ModelError, ModelSource, PromptOptions, RandomCheckpoint, ReasoningOptions, SamplingOptions, Snapshot, generate,
    load,
};

const QWEN: &str = "{{ messages[0].content }}\n{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}";
const CHANNELS: &str = "Reasoning: {{ reasoning_effort | default('medium') }}\n<|start|>user<|message|>{{ messages[0].content }}<|end|><|start|>assistant{# <|channel|> #}";
const SCHEMA: &str = r#"{"enum": ["yes"]}"#;
const ANSWER: &str = r#""yes""#;

/// A checkpoint whose tokens are bytes, with this chat template.
fn checkpoint(directory: &Path, template: &str) -> ModelSource {
    let checkpoint = RandomCheckpoint::preset(Family::Llama, "tiny").unwrap();
    checkpoint.write(directory).unwrap();
    std::fs::write(directory.join("chat_template.jinja"), template).unwrap();
    ModelSource::Directory(directory.to_owned())
}

fn asked(source: &ModelSource, prompt: PromptOptions) -> Result<LoadedModel, ModelError> {
    let options = LoadOptions {
        prompt,
        ..LoadOptions::default()
    };
    load(source, &options)
}

fn with_template(template: &str, prompt: PromptOptions) -> Result<LoadedModel, ModelError> {
    let directory = tempfile::tempdir().unwrap();
    asked(&checkpoint(directory.path(), template), prompt)
}

fn reasoning(max_tokens: usize, end: Option<&str>) -> PromptOptions {
    PromptOptions {
        reasoning: Some(ReasoningOptions {
            max_tokens,
            end: end.map(str::to_owned),
        }),
        ..PromptOptions::default()
    }
}

/// A model that likes one token best at each position, whatever it has read.
struct Scribe {
    text: Vec<TokenId>,
    prompt: usize,
    vocab_size: usize,
    read: Vec<TokenId>,
    max_positions: usize,
}

impl LanguageModel for Scribe {
    fn vocab_size(&self) -> usize {
        self.vocab_size
    }
    fn max_positions(&self) -> usize {
        self.max_positions
    }
    fn position(&self) -> usize {
        self.read.len()
    }
    fn append(&mut self, tokens: &[u32]) -> Result<Tensor, ModelError> {
        self.read.extend_from_slice(tokens);
        let mut logits = vec![0.0_f32; self.vocab_size];
        if let Some(token) = self.text.get(self.read.len() - self.prompt) {
            logits[*token as usize] = 1.0;
        }
        Ok(Tensor::new(logits, &Device::Cpu).unwrap())
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.read.len(), 0)
    }
    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), ModelError> {
        self.read.truncate(snapshot.position());
        Ok(())
    }
    fn reset(&mut self) {
        self.read.clear();
    }
}

/// Returns the answer of a model that would write `text` after the prompt "?", the tokens it has read then, and the generation.
fn answer(
    loaded: &LoadedModel,
    text: &[TokenId],
    is_constrained: bool,
    room: usize,
) -> (String, Vec<TokenId>, Generation) {
    answer_to(loaded, "?", text, is_constrained, room)
}

/// Returns the same as [`answer`], for another prompt.
fn answer_to(
    loaded: &LoadedModel,
    prompt: &str,
    text: &[TokenId],
    is_constrained: bool,
    room: usize,
) -> (String, Vec<TokenId>, Generation) {
    let vocabulary = loaded.vocabulary();
    let prompt = loaded.tokenizer().encode(prompt, false).unwrap();
    let mut model = Scribe {
        text: text.to_vec(),
        prompt: prompt.len(),
        vocab_size: vocabulary.len(),
        read: Vec::new(),
        max_positions: room,
    };
    let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::default());
    let constraint = is_constrained.then(|| Constraint {
        framework: "maskwright".to_owned(),
        masker: compiler.compile(SCHEMA).unwrap(),
    });
    let options = DecodeOptions {
        reasoning: loaded.reasoning().cloned(),
        ..DecodeOptions::new(SamplingOptions::default(), loaded.eos_ids().to_vec(), 50)
    };
    let generation = generate(&mut model, &prompt, constraint, &options, &AtomicBool::new(false));
    let bytes = vocabulary.text_bytes(&generation.token_ids());
    let read = model.read.split_off(prompt.len());
    (String::from_utf8(bytes).unwrap(), read, generation)
}

/// The tokens of `text` in a model whose tokens are bytes, where `$` stands for the end of the sequence.
fn tokens(loaded: &LoadedModel, text: &str) -> Vec<TokenId> {
    let eos = loaded.eos_ids()[0];
    let of = |byte: u8| if byte == b'$' { eos } else { byte.into() };
    text.bytes().map(of).collect()
}

/// Returns the text of the tokens that the model has read, as [`answer`] gives them.
fn read_text(loaded: &LoadedModel, read: &[TokenId]) -> String {
    String::from_utf8(loaded.vocabulary().text_bytes(read)).unwrap()
}

#[test]
fn a_constrained_answer_follows_the_end_of_the_reasoning() {
    for (template, written, read) in [
        (
            QWEN,
            "<think>\nWhy {not}?\n</think>$",
            "<think>\nWhy {not}?\n</think>\n\n",
        ),
        (
            CHANNELS,
            "<|channel|>analysis<|message|>It is final.<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>no",
            "<|channel|>analysis<|message|>It is final.<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>",
        ),
    ] {
        let loaded = with_template(template, reasoning(1000, None)).unwrap();
        let (text, model_read, generation) = answer(&loaded, &tokens(&loaded, written), true, 1000);
        assert_eq!(text, ANSWER, "{template}");
        assert!(read_text(&loaded, &model_read).starts_with(read), "{template}");
        assert_eq!(generation.finish.as_ref().unwrap(), &FinishReason::EndOfSequence);
        let span = generation.reasoning.unwrap();
        assert_eq!(
            (span.tokens, span.cut),
            (read.trim_end_matches('\n').len(), false),
            "{template}"
        );
        assert!(span.time <= generation.time_to_first_token().unwrap());
        assert!(
            generation.tokens.len() <= ANSWER.len(),
            "the reasoning is no part of the answer"
        );
    }
}

#[test]
fn reasoning_without_an_end_is_ended() {
    let loaded = with_template(QWEN, reasoning(5, None)).unwrap();
    let endless = tokens(&loaded, &"x".repeat(200));
    for (room, written) in [(1000, "xxxxx"), (7, "xxx")] {
        let (text, read, generation) = answer(&loaded, &endless, true, room);
        let span = generation.reasoning.unwrap();
        assert_eq!(
            (span.tokens, span.cut),
            (written.len(), true),
            "half of the context is left to the answer"
        );
        if room == 1000 {
            assert_eq!(text, ANSWER);
            let read = read_text(&loaded, &read);
            assert!(read.starts_with(&format!("{written}\n</think>\n\n")), "{read}");
        }
    }
    // The model ends its turn: where it has to answer, it does; else that was its answer.
    let turn = tokens(&loaded, "no$");
    let (text, read, generation) = answer(&loaded, &turn, true, 1000);
    assert_eq!(text, ANSWER);
    assert!(read_text(&loaded, &read).starts_with("no\n</think>\n\n"));
    assert_eq!(
        generation.reasoning.map(|span| (span.tokens, span.cut)),
        Some((2, true))
    );
    let (text, _, generation) = answer(&loaded, &turn, false, 1000);
    assert_eq!((text.as_str(), generation.reasoning), ("no", None));
    assert_eq!(generation.finish.unwrap(), FinishReason::EndOfSequence);
}

#[test]
fn thoughts_that_are_left_open_are_no_answer() {
    let loaded = with_template(QWEN, reasoning(100, None)).unwrap();
    let (text, _, generation) = answer(&loaded, &tokens(&loaded, "<think>\nWhy?$"), false, 1000);
    assert_eq!(text, "");
    assert_eq!(
        generation.reasoning.map(|span| (span.tokens, span.cut)),
        Some((12, true))
    );
    assert_eq!(generation.finish.unwrap(), FinishReason::EndOfSequence);
    // The prompt has begun them.
    let (text, _, generation) = answer_to(&loaded, "?<think>\n", &tokens(&loaded, "Why?$"), false, 1000);
    assert_eq!(
        (text.as_str(), generation.reasoning.map(|span| span.tokens)),
        ("", Some(4))
    );
}

#[test]
fn an_unconstrained_answer_is_told_from_the_reasoning() {
    let loaded = with_template(QWEN, reasoning(100, None)).unwrap();
    let (text, _, generation) = answer(&loaded, &tokens(&loaded, "hm</think>\n\nyes$"), false, 1000);
    assert_eq!(text, "yes");
    assert_eq!(
        generation.reasoning.map(|span| (span.tokens, span.cut)),
        Some((10, false))
    );
}

#[test]
fn an_unconstrained_answer_has_its_own_limit() {
    let loaded = with_template(QWEN, reasoning(100, None)).unwrap();
    let long = "no".repeat(30) + "$";
    let (text, _, generation) = answer(&loaded, &tokens(&loaded, &long), false, 1000);
    assert_eq!((text.len(), generation.reasoning), (50, None));
    assert_eq!(generation.finish.unwrap(), FinishReason::TokenLimit);
}

#[test]
fn a_token_that_reaches_into_the_answer_is_read_up_to_it() {
    let plain = asked(&ModelSource::Builtin, PromptOptions::default()).unwrap();
    let vocabulary = plain.vocabulary();
    let is_word = |token: &TokenId| {
        let bytes = vocabulary.token_bytes(*token);
        bytes.len() >= 5 && bytes.iter().all(u8::is_ascii_lowercase)
    };
    let token = (0..vocabulary.len() as TokenId).find(is_word).unwrap();
    let word = std::str::from_utf8(vocabulary.token_bytes(token)).unwrap();
    let loaded = asked(&ModelSource::Builtin, reasoning(100, Some(&word[..2]))).unwrap();
    let (text, read, generation) = answer(&loaded, &[token], true, 1000);
    assert_eq!(text, ANSWER);
    assert!(
        read_text(&loaded, &read).starts_with(&format!("{}\"", &word[..2])),
        "{read:?}"
    );
    assert_eq!(generation.reasoning.map(|span| span.tokens), Some(1));
}

#[test]
fn a_model_without_known_marks_needs_their_name() {
    let plain = "{{ messages[0].content }}";
    let error = with_template(plain, reasoning(5, None)).unwrap_err().to_string();
    assert!(
        error.contains("</think>") && error.contains("--reasoning-end"),
        "{error}"
    );
    let loaded = with_template(plain, reasoning(100, Some("so:"))).unwrap();
    let (text, read, _) = answer(&loaded, &tokens(&loaded, "a, so: b"), true, 1000);
    assert_eq!(text, ANSWER);
    assert!(read_text(&loaded, &read).starts_with("a, so:\""));
}

#[test]
fn prompts_say_whether_the_model_is_to_think() {
    let prompt = |template: &str, options: PromptOptions| {
        let loaded = with_template(template, options).unwrap();
        loaded.render_prompt(&[Message::user("Q")]).unwrap()
    };
    let thinking = |is_on: bool| PromptOptions {
        thinking: Some(is_on),
        ..PromptOptions::default()
    };
    let at_once = PromptOptions::default;
    // Qwen3: on unless it is told not to be.
    assert_eq!(prompt(QWEN, at_once()), "Q\n<think>\n\n</think>\n\n");
    assert_eq!(prompt(QWEN, thinking(false)), "Q\n<think>\n\n</think>\n\n");
    assert_eq!(prompt(QWEN, reasoning(9, None)), "Q\n");
    // Granite and DeepSeek: off unless they are told to be on.
    let granite = "{% if thinking %}Think. {% endif %}{{ messages[0].content }}{# </think> #}";
    assert_eq!(prompt(granite, at_once()), "Q");
    assert_eq!(prompt(granite, reasoning(9, None)), "Think. Q");
    let off = PromptOptions {
        thinking: Some(false),
        ..reasoning(9, None)
    };
    assert_eq!(prompt(granite, off), "Q");
    // A template that sets its variable itself where it is not given, as SmolLM3's.
    let smollm =
        "{% if enable_thinking is not defined %}{% set enable_thinking = true %}{% endif %}{{ enable_thinking }}";
    assert_eq!(prompt(smollm, thinking(false)), "False");
    // Templates that set their variable to itself or to a default, as those of Nemotron 3 and Spark2.5, and Solar's for its effort.
    for template in [
        "{%- set enable_thinking = enable_thinking if enable_thinking is defined else True %}\n{{ enable_thinking }}",
        "{%- set enable_thinking = enable_thinking | default(true) -%}{{ enable_thinking }}",
        "{% generation %}{% set thinking = thinking == true %}{{ thinking }}{% endgeneration %}",
        "{% set reasoning_effort = reasoning_effort | default('high') %}{{ reasoning_effort == 'high' }}",
    ] {
        assert_eq!(prompt(template, at_once()), "False", "{template}");
        assert_eq!(prompt(template, reasoning(9, Some("</think>"))), "True", "{template}");
    }
    // gpt-oss: less, and at once.
    let user = "<|start|>user<|message|>Q<|end|><|start|>assistant";
    let direct = format!("Reasoning: low\n{user}<|channel|>final<|message|>");
    assert_eq!(prompt(CHANNELS, at_once()), direct);
    assert_eq!(
        prompt(CHANNELS, reasoning(9, None)),
        format!("Reasoning: medium\n{user}")
    );
    // DeepSeek R1 and others: the template begins the thoughts.
    let begun = "{{ messages[0].content }}<think>\n{# </think> #}";
    assert_eq!(prompt(begun, at_once()), "Q<think>\n\n</think>\n\n");
    assert_eq!(prompt(begun, reasoning(9, None)), "Q<think>\n");

    for template in ["{{ messages }}", "{% set thinking = 'own' %}{{ thinking }}"] {
        let error = with_template(template, thinking(true)).unwrap_err().to_string();
        assert!(
            error.contains("no switch for thinking (enable_thinking, thinking, reasoning_effort)"),
            "{error}"
        );
    }
}

#[test]
fn a_chat_template_may_be_given() {
    let directory = tempfile::tempdir().unwrap();
    let given = directory.path().join("mine.jinja");
    std::fs::write(&given, "mine: {{ messages[0].content }}").unwrap();
    let options = PromptOptions {
        chat_template: Some(given.clone()),
        ..PromptOptions::default()
    };
    let prompt = with_template(QWEN, options.clone()).unwrap();
    assert_eq!(prompt.render_prompt(&[Message::user("Q")]).unwrap(), "mine: Q");
    std::fs::write(&given, "{% if").unwrap();
    let error = with_template(QWEN, options.clone()).unwrap_err().to_string();
    assert!(error.contains("mine.jinja"), "{error}");
    std::fs::write(&given, b"\xff").unwrap();
    let error = with_template(QWEN, options.clone()).unwrap_err().to_string();
    assert!(error.contains("not UTF-8"), "{error}");
    std::fs::remove_file(&given).unwrap();
    assert!(matches!(with_template(QWEN, options), Err(ModelError::Io { .. })));
}
