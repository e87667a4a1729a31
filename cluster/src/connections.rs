//! Connections to other executors, which are reused: otherwise each task that reads rows of others would open some of
//! its own, and leave their ports busy for a minute.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ballista_core::client::BallistaClient;
use ballista_core::client_pool::{BallistaClientPool, PooledClient};
use ballista_core::error::Result;
use ballista_core::extension::BallistaConfigGrpcEndpoint;
use ballista_core::utils::GrpcClientConfig;

/// The time after which an idle connection is closed, when another is requested.
const IDLE: Duration = Duration::from_secs(60);

/// An executor, and the configuration of connections to it.
type Place = (String, u16, GrpcClientConfig);

/// The idle connections to each executor, and the times since which they are idle.
type Idle = HashMap<Place, Vec<(BallistaClient, Instant)>>;

/// A pool of idle connections.
#[derive(Default, Clone)]
pub(crate) struct Connections {
    idle: Arc<Mutex<Idle>>,
}

impl Connections {
    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close_idle(&self) {
        let mut idle = self.idle();
        for connections in idle.values_mut() {
            connections.retain(|(_, since)| since.elapsed() < IDLE);
        }
        idle.retain(|_, connections| !connections.is_empty());
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connections")
    }
}

#[async_trait]
impl BallistaClientPool for Connections {
    async fn acquire(
        &self,
        host: &str,
        port: u16,
        config: &GrpcClientConfig,
        endpoint: Option<Arc<BallistaConfigGrpcEndpoint>>,
    ) -> Result<PooledClient> {
        self.close_idle();
        let place = (host.to_owned(), port, config.clone());
        let known = self.idle().get_mut(&place).and_then(Vec::pop);
        let client = match known {
            Some((client, _)) => client,
            None => {
                BallistaClient::try_new(
                    host,
                    port,
                    config.max_message_size,
                    config.use_tls,
                    endpoint,
                    config.io_retries_times,
                    config.io_retry_wait_time_ms,
                    config.initial_connection_window_size,
                    config.initial_stream_window_size,
                )
                .await?
            }
        };
        let all = self.clone();
        let give_back = move |client| all.idle().entry(place).or_default().push((client, Instant::now()));
        Ok(PooledClient::new(client, Box::new(give_back)))
    }

    async fn evict_idle(&self) {
        self.close_idle();
    }
}
