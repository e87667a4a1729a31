//! Object stores: S3, Google Cloud Storage, Azure Blob Storage, and files of web servers, by URL.
//!
//! Every path of a file may also be the URL of an object. An [`Address`] is a parsed URL. A [`Location`] is an address
//! with the stores that reach it. An [`Object`] is one that exists, with its size and ETag. [`Stores`] makes the store
//! of a URL when it is first needed and keeps it. Each engine has its own stores, with its own credentials. They are
//! also the registry of the engine's sessions, so that `FROM 's3://…'` and the readers share connections, credentials
//! and counts.
//!
//! * Requests run on a runtime of their own ([`blocking`]): a query that keeps all threads busy makes no request time
//!   out, and blocking readers can wait for requests.
//! * Errors are explained where they arise ([`explain`]): what is wrong, where, and what to do. No error, log or
//!   `Debug` has a secret in it.
//! * Requests and bytes are counted where they go over the wire ([`http`]).

mod aws;
mod blocking;
mod explain;
pub(crate) mod failpoint;
mod folder;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod given_up;
mod http;
mod links;
mod location;
mod object;
mod put;
mod registry;
mod remote;
mod sealed;
mod source;
mod table;
mod uploads;
mod verify;

pub use self::explain::Explained;
pub(crate) use self::folder::{LOCK, entries, has_only, remove_folder};
pub(crate) use self::given_up::{GivenUp, give_up, write_unless_dropped};
pub(crate) use self::links::{Nowhere, leads_above, nowhere};
pub(crate) use self::location::{Address, Location, MAGIC, has_key};
pub use self::location::{redacted, redacted_url};
pub(crate) use self::object::{Object, ObjectMessage, failed};
pub(crate) use self::put::{When, check_writable, put, put_new_unless_dropped, remove};
pub use self::registry::{Settings, StoreTraffic, Stores};
pub(crate) use self::sealed::SealedStore;
pub use self::source::Source;
pub(crate) use self::source::read_start;
pub(crate) use self::table::{BROKE_DOWN, Found, written};
pub use self::table::{guarded, place_of, unsound};
pub(crate) use self::uploads::Upload;
pub(crate) use self::verify::{Verified, check_root, check_seal, hash_of, seal_of, verify, verify_source};
