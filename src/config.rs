//! The options of ibid, set with `SET ibid.… = …`.

use std::any::Any;
use std::fmt;
use std::str::FromStr;

use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigField, ExtensionOptions, Visit};
use datafusion::common::{DataFusionError, Result, config_namespace};
use datafusion::error::DataFusionError::Configuration;

config_namespace! {
    /// All options of ibid.
    pub struct IbidOptions {
        /// How similarity joins are planned.
        pub similarity_join: SimilarityJoinOptions, default = Default::default()

        /// Whether bit codes are compared on a GPU: `auto` does so where there is one that is not made of software, `on` fails
        /// where there is none, `off` never does. The rows are the same.
        pub gpu: Gpu, default = Gpu::Auto

        /// Whether semi joins, `doc IN (SELECT …)` among them, choose the rows of a view below its joins, groups and unions, so that
        /// fewer are joined. The rows are the same.
        pub push_down_semi_joins: bool, default = true
    }
}

impl ConfigExtension for IbidOptions {
    const PREFIX: &'static str = "ibid";
}

/// By hand, since what `extensions_options!` makes lists the options without their prefix, and then `SHOW` does not find
/// them.
impl ExtensionOptions for IbidOptions {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        ConfigField::set(self, key, value)
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        let mut entries = Entries::default();
        self.visit(&mut entries, Self::PREFIX, "");
        entries.0
    }
}

/// Lists options.
#[derive(Default)]
struct Entries(Vec<ConfigEntry>);

impl Visit for Entries {
    fn some<V: fmt::Display>(&mut self, key: &str, value: V, description: &'static str) {
        self.0.push(ConfigEntry { key: key.to_string(), value: Some(value.to_string()), description });
    }

    fn none(&mut self, key: &str, description: &'static str) {
        self.0.push(ConfigEntry { key: key.to_string(), value: None, description });
    }
}

config_namespace! {
    /// How joins on a similarity, such as `ON jaccard(a.set, b.set) >= 0.8`, are planned.
    pub struct SimilarityJoinOptions {
        /// `operator` runs the join by an index of the elements that a match must share, rarest first; `lowered` rewrites
        /// it to an equality join over such elements, of standard operators; `distributed` deals the rows into shares of the
        /// elements that are joined apart, as executors of a cluster do; `nested_loop` compares every pair; `auto`
        /// takes the nested loop where the inputs are known to have a few rows only, and the operator otherwise. `bitmap`
        /// compares codes of all pairs block by block, on a GPU if there is one (`ibid.gpu`): those of a condition on `hamming`,
        /// which `auto` does, too, where they are known to fit into memory, or bitmaps of the sets of one on `jaccard`; other
        /// joins it leaves to the operator. All give the same rows.
        pub strategy: Strategy, default = Strategy::Auto

        /// How many rows of each input are read while the join is planned, if it is a file or a table: `EXPLAIN` shows how
        /// many candidates the operator is estimated to have by them. 0 reads none.
        pub sample_rows: usize, default = 1024

        /// What spares the operator comparisons.
        pub filters: FilterOptions, default = Default::default()
    }
}

config_namespace! {
    /// Which filters the operator of similarity joins has. Without one it takes longer and gives the same rows.
    pub struct FilterOptions {
        /// The operator compares only sets that share one of the rarest elements of each, as many as a match must show;
        /// otherwise all that share an element.
        pub prefix: bool, default = true

        /// Where the measure asks how much of one set is in the other, the operator counts which elements of the first the other
        /// has, if that fits into memory, and compares those sets only that have enough of its rarest; otherwise it looks for
        /// one of these.
        pub count: bool, default = true

        /// The operator passes over sets of which too few elements come after the one that they share.
        pub position: bool, default = true

        /// The operator passes over sets of which 64 bits, made of their elements, differ too much.
        pub bitmap: bool, default = true
    }
}

/// How a similarity join is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Every pair is compared: slow, and what the other strategies are tested against.
    NestedLoop,
    /// Standard operators: unnest, equality join, filter.
    Lowered,
    /// An operator of its own: an index of prefixes, rarest elements first.
    Operator,
    /// The same in shares of the elements, which are joined apart.
    Distributed,
    /// Codes of all pairs are compared, block by block.
    Bitmap,
    /// The nested loop for a few rows, codes by their distance, else the operator.
    #[default]
    Auto,
}

impl Strategy {
    const ALL: [Self; 6] =
        [Self::NestedLoop, Self::Lowered, Self::Operator, Self::Distributed, Self::Bitmap, Self::Auto];
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NestedLoop => "nested_loop",
            Self::Lowered => "lowered",
            Self::Operator => "operator",
            Self::Distributed => "distributed",
            Self::Bitmap => "bitmap",
            Self::Auto => "auto",
        })
    }
}

impl FromStr for Strategy {
    type Err = DataFusionError;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.to_string() == name).ok_or_else(|| {
            let known = Self::ALL.map(|strategy| strategy.to_string()).join(", ");
            Configuration(format!("ibid.similarity_join.strategy is one of {known}; got '{name}'"))
        })
    }
}

impl ConfigField for Strategy {
    fn visit<V: Visit>(&self, visitor: &mut V, key: &str, description: &'static str) {
        visitor.some(key, self, description);
    }

    fn set(&mut self, _: &str, value: &str) -> Result<()> {
        *self = value.parse()?;
        Ok(())
    }
}

/// Whether bit codes are compared on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gpu {
    /// On one that is there, but not on one that is made of software.
    #[default]
    Auto,
    /// On one; an error where there is none.
    On,
    /// On none.
    Off,
}

impl Gpu {
    const ALL: [Self; 3] = [Self::Auto, Self::On, Self::Off];
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::On => "on",
            Self::Off => "off",
        })
    }
}

impl FromStr for Gpu {
    type Err = DataFusionError;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|choice| choice.to_string() == name).ok_or_else(|| {
            let known = Self::ALL.map(|choice| choice.to_string()).join(", ");
            Configuration(format!("ibid.gpu is one of {known}; got '{name}'"))
        })
    }
}

impl ConfigField for Gpu {
    fn visit<V: Visit>(&self, visitor: &mut V, key: &str, description: &'static str) {
        visitor.some(key, self, description);
    }

    fn set(&mut self, _: &str, value: &str) -> Result<()> {
        *self = value.parse()?;
        Ok(())
    }
}
