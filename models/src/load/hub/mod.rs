//! Models on the Hugging Face hub, downloaded into the cache that the hub's other clients share.
//!
//! The cache's layout is huggingface_hub's: `models--ORG--NAME/` with `refs/REVISION` (the commit), `blobs/ETAG`
//! (contents) and `snapshots/COMMIT/FILE` (links to blobs).

mod client;
pub(crate) mod repository;
pub(crate) mod settings;
