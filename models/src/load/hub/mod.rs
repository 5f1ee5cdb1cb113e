//! Models on the Hugging Face hub, downloaded by the crate hf-hub into the cache that the hub's other clients share.
//!
//! The cache's layout is huggingface_hub's: `models--ORG--NAME/` with `refs/REVISION` (the commit), `blobs/ETAG`
//! (contents) and `snapshots/COMMIT/FILE` (links to blobs). What hf-hub lacks is added here: sizes and hashes are checked,
//! downloads that fail in passing are tried again, a server that goes silent is noticed, and what is in the cache is used
//! without asking where the hub may not or cannot be asked.

mod contents;
mod downloader;
mod listing;
pub(crate) mod repository;
pub(crate) mod settings;
