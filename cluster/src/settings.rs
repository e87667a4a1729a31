//! Settings that client, scheduler and executors share: the encoding of plans, options, and the version.

use std::sync::Arc;

use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::common::{Result, exec_err, extensions_options};
use datafusion::config::ConfigExtension;
use datafusion::prelude::SessionConfig;
use ibid::{IbidCodec, IbidOptions};

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Upper bound of the bytes of a message: plans are sent with the rows that they contain.
pub(crate) const MESSAGE_BYTES: u32 = 64 << 20;

extensions_options! {
    /// Options that a client sends with each plan.
    pub(crate) struct ClientOptions {
        /// The version of the program that planned it.
        pub version: String, default = VERSION.to_owned()
    }
}

impl ConfigExtension for ClientOptions {
    const PREFIX: &'static str = "ibid_client";
}

/// Returns the codec of plans.
pub(crate) fn codec() -> IbidCodec {
    IbidCodec::over(
        Arc::new(BallistaLogicalExtensionCodec::default()),
        Arc::new(BallistaPhysicalExtensionCodec::default()),
    )
}

/// Returns a configuration that takes the options of ibid and Ballista.
pub(crate) fn configured(config: SessionConfig) -> SessionConfig {
    let mut config = config.upgrade_for_ballista().with_ballista_grpc_client_max_message_size(MESSAGE_BYTES as usize);
    let options = config.options_mut();
    if options.extensions.get::<IbidOptions>().is_none() {
        options.extensions.insert(IbidOptions::default());
    }
    options.extensions.insert(ClientOptions::default());
    config
}

/// Fails if a plan comes from a program of another version, whose functions may do something else.
pub(crate) fn check_version(config: &SessionConfig, who: &str) -> Result<()> {
    let planned_by = config.options().extensions.get::<ClientOptions>().map(|client| client.version.as_str());
    match planned_by {
        Some(VERSION) => Ok(()),
        other => exec_err!(
            "{who} is ibid {VERSION}, but the plan is from ibid {}: install the same version on all machines",
            other.unwrap_or("of another version")
        ),
    }
}
