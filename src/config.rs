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
        /// The options of similarity joins.
        pub similarity_join: SimilarityJoinOptions, default = Default::default()

        /// The use of a GPU to compare bit codes: `auto` uses a GPU if there is one that is not emulated in software,
        /// `on` fails if there is none, `off` never uses one. The rows are the same.
        pub gpu: Gpu, default = Gpu::Auto

        /// If true, semi joins such as `doc IN (SELECT …)` are pushed down below the joins, groups and unions of a
        /// view, so that fewer rows are joined. The rows are the same.
        pub push_down_semi_joins: bool, default = true
    }
}

impl ConfigExtension for IbidOptions {
    const PREFIX: &'static str = "ibid";
}

/// Written by hand, since `extensions_options!` would list the options without their prefix, and `SHOW` would not find
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

/// A list of options.
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
    /// The options of joins on a similarity, such as `ON jaccard(a.set, b.set) >= 0.8`.
    pub struct SimilarityJoinOptions {
        /// The plan of similarity joins. `operator` uses an index of the elements that a match must share, rarest
        /// first. `lowered` rewrites the join to an equality join over such elements, with standard operators.
        /// `distributed` partitions the rows by these elements into shares that are joined separately, as by the
        /// executors of a cluster. `nested_loop` compares every pair. `bitmap` compares the codes of all pairs block by
        /// block, on a GPU if there is one (`ibid.gpu`): the codes of a condition on `hamming`, or bitmaps of the sets
        /// of a condition on `jaccard`; other joins use `operator`. `auto` uses `nested_loop` if the inputs are known
        /// to have only a few rows, `bitmap` for a condition on `hamming` if the codes are known to fit into memory,
        /// and `operator` otherwise. The rows are the same.
        pub strategy: Strategy, default = Strategy::Auto

        /// The number of rows of each input that are read while the join is planned, if the input is a file or a table.
        /// `EXPLAIN` shows the number of candidates of the operator that is estimated from them. 0 reads none.
        pub sample_rows: usize, default = 1024

        /// The strategy `distributed` cuts the rows of a frequent element into blocks, so that several tasks compare them,
        /// each a pair of blocks. A block has about this many rows, or more if there are enough blocks for all tasks. 0
        /// leaves the rows to one task. The rows are the same.
        pub split_rows: usize, default = 32768

        /// The filters of the operator, which reduce comparisons.
        pub filters: FilterOptions, default = Default::default()
    }
}

config_namespace! {
    /// The filters of the operator for similarity joins. Without a filter, it takes longer and gives the same rows.
    pub struct FilterOptions {
        /// The operator compares only sets that share one of the rarest elements of each, of which a match must share
        /// at least one; otherwise it compares all sets that share an element.
        pub prefix: bool, default = true

        /// If the measure asks how much of one set is in the other, the operator counts how many of the rarest elements
        /// of the first set the other set has, if that fits into memory, and compares only sets that have enough of
        /// them; otherwise it compares sets that have one of them.
        pub count: bool, default = true

        /// The operator skips pairs of sets that have too few elements after the one that they share.
        pub position: bool, default = true

        /// The operator skips pairs of sets whose bitmaps, 64 bits computed from the elements, differ in too many bits.
        pub bitmap: bool, default = true
    }
}

/// The strategy of a similarity join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Comparison of every pair: slow, and the reference in tests of the other strategies.
    NestedLoop,
    /// Standard operators: unnest, equality join, filter.
    Lowered,
    /// An operator of its own: an index of prefixes, rarest elements first.
    Operator,
    /// The operator on shares of the elements, which are joined apart.
    Distributed,
    /// Comparison of the codes of all pairs, block by block.
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

/// The choice of a GPU for comparing bit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gpu {
    /// A GPU if there is one, but not one that is made of software.
    #[default]
    Auto,
    /// A GPU; an error if there is none.
    On,
    /// No GPU.
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
