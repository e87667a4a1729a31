//! CSV and JSON lines files as `FROM` reads them, within limits: DataFusion's readers accept lines of any length, and
//! any amount of decompressed data.

mod array;
mod columns;
mod fields;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod header;
mod lossless_types;
mod number_inference;
mod opener;
mod place;
mod read;
mod store;
mod strict;
mod whole_numbers;

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{GetExt, Result, Statistics, plan_err};
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::{FileFormat, FileFormatFactory};
use datafusion::datasource::physical_plan::{
    CsvSource, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSinkConfig, FileSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{LexRequirement, PhysicalExpr};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use datafusion::prelude::SessionContext;
use datafusion_datasource::projection::{ProjectionOpener, SplitProjection};
use object_store::{ObjectMeta, ObjectStore};

use self::columns::columns;
use self::opener::{LimitedOpener, Reading};
use self::read::JsonOpener;
use self::store::DecodingStore;
use self::strict::{Kind, ReadColumns};
use crate::records::Syntax;

/// The number of records from which the columns are inferred if no option sets it, as in DataFusion.
const RECORDS_OF_SCHEMA: usize = datafusion::datasource::file_format::DEFAULT_SCHEMA_INFER_MAX_RECORD;

/// The limits for files.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The longest line of JSON or row of CSV, in bytes.
    pub max_record_bytes: usize,
    /// Upper bound of the decompressed bytes per compressed byte, beyond the first 64 MiB of a file.
    pub max_ratio: u64,
}

/// Applies limits to all CSV and JSON lines files that the session reads from now on.
pub fn limit_files(session: &SessionContext, limits: Limits) -> Result<()> {
    let state = session.state_ref();
    let mut state = state.write();
    for extension in ["csv", "tsv", "json", "jsonl", "ndjson"] {
        if let Some(files) = state.get_file_format_factory(extension) {
            state.register_file_format(Arc::new(LimitedFiles { files, limits }), true)?;
        }
    }
    Ok(())
}

#[derive(Debug)]
struct LimitedFiles {
    files: Arc<dyn FileFormatFactory>,
    limits: Limits,
}

impl GetExt for LimitedFiles {
    fn get_ext(&self) -> String {
        self.files.get_ext()
    }
}

impl FileFormatFactory for LimitedFiles {
    fn create(&self, state: &dyn Session, options: &HashMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        let format = self.files.create(state, options)?;
        // DataFusion would use the option to infer which columns hold numbers, but ignore it when these are read.
        let any: &dyn Any = format.as_ref();
        if any.downcast_ref::<CsvFormat>().is_some_and(|csv| csv.options().null_regex.is_some()) {
            return plan_err!(
                "the option format.null_regex is not supported: leave it out, and write nullif(a, 'NA') for such a column"
            );
        }
        let mut options = options.clone();
        options.insert("format.compression".to_owned(), "uncompressed".to_owned());
        let unpacked = self.files.create(state, &options)?;
        Ok(LimitedFormat::over(format, unpacked, self.limits))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        let format = FileFormatFactory::default(self.files.as_ref());
        LimitedFormat::over(Arc::clone(&format), format, self.limits)
    }
}

/// A format whose files are within limits.
#[derive(Debug)]
struct LimitedFormat {
    format: Arc<dyn FileFormat>,
    /// The same format for content that is neither compressed nor an array.
    unpacked: Arc<dyn FileFormat>,
    syntax: Syntax,
    limits: Limits,
    /// The number of records of a file from which columns are inferred, where DataFusion would read the whole file.
    records_of_schema: Option<usize>,
    /// True if the columns were found in the first records, false if they are declared.
    is_found: AtomicBool,
}

impl LimitedFormat {
    /// Wraps the format in limits, if its files consist of records.
    fn over(format: Arc<dyn FileFormat>, unpacked: Arc<dyn FileFormat>, limits: Limits) -> Arc<dyn FileFormat> {
        let any: &dyn Any = format.as_ref();
        let (unpacked, syntax, records_of_schema) = if let Some(csv) = any.downcast_ref::<CsvFormat>() {
            (unpacked, Syntax::of_csv(csv.options()), None)
        } else if let Some(json) = any.downcast_ref::<JsonFormat>() {
            let records = json.options().schema_infer_max_rec.unwrap_or(RECORDS_OF_SCHEMA);
            let lines = JsonFormat::default().with_schema_infer_max_rec(records);
            let syntax = if json.options().newline_delimited { Syntax::Json } else { Syntax::Array };
            (Arc::new(lines) as _, syntax, Some(records))
        } else {
            return format;
        };
        Arc::new(Self { format, unpacked, syntax, limits, records_of_schema, is_found: AtomicBool::new(false) })
    }
}

#[async_trait]
impl FileFormat for LimitedFormat {
    fn get_ext(&self) -> String {
        self.format.get_ext()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        self.format.get_ext_with_compression(compression)
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        self.format.compression_type()
    }

    async fn infer_schema(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        let files = DecodingStore {
            store: Arc::clone(store),
            compression: self.compression_type().unwrap_or(FileCompressionType::UNCOMPRESSED),
            syntax: self.syntax,
            limits: self.limits,
            enough: self.records_of_schema,
            declared: None,
            last: Arc::default(),
        };
        self.is_found.store(true, Ordering::Relaxed);
        columns(&self.unpacked, state, &files, objects).await
    }

    async fn infer_stats(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Statistics> {
        self.format.infer_stats(state, store, schema, object).await
    }

    async fn create_physical_plan(&self, state: &dyn Session, scan: FileScanConfig) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = self.format.create_physical_plan(state, scan).await?;
        let scan = plan.downcast_ref::<DataSourceExec>();
        let Some(scan) = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>()) else {
            return Ok(plan);
        };
        let (source, rows) = (Arc::clone(scan.file_source()), state.config().batch_size());
        let is_found = self.is_found.load(Ordering::Relaxed);
        let source = LimitedSource { source, is_found, rows, syntax: self.syntax, limits: self.limits };
        Ok(DataSourceExec::from_data_source(
            FileScanConfigBuilder::from(scan.clone()).with_source(Arc::new(source)).build(),
        ))
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        state: &dyn Session,
        sink: FileSinkConfig,
        order: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.format.create_writer_physical_plan(input, state, sink, order).await
    }

    fn file_source(&self, schema: TableSchema) -> Arc<dyn FileSource> {
        self.format.file_source(schema)
    }
}

/// A source that reads files of a format within limits.
#[derive(Clone)]
struct LimitedSource {
    /// The source of the original plan.
    source: Arc<dyn FileSource>,
    is_found: bool,
    /// The number of rows per batch.
    rows: usize,
    syntax: Syntax,
    limits: Limits,
}

impl LimitedSource {
    fn of(&self, source: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
        Arc::new(Self { source, ..self.clone() })
    }

    /// Returns an opener of files that are not packed, without limits.
    fn opener(
        &self,
        store: Arc<dyn ObjectStore>,
        scan: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let table = self.table_schema();
        let columns = table.file_schema();
        let projection = match self.projection() {
            Some(projection) => SplitProjection::new(columns, projection),
            None => SplitProjection::unprojected(table),
        };
        let opener = match self.as_csv() {
            Some(csv) => read::csv(csv, &projection.file_indices, self.is_found, self.rows, store, scan, partition)?,
            None => {
                let are_all = projection.file_indices.len() == columns.fields().len();
                let columns = Arc::new(columns.project(&projection.file_indices)?);
                let records = Kind::of_records(&ReadColumns { columns: &columns, are_all, is_found: self.is_found });
                Arc::new(JsonOpener { columns, records: Arc::new(records), rows: self.rows, store })
            }
        };
        ProjectionOpener::try_new(projection, opener, columns)
    }

    fn as_csv(&self) -> Option<&CsvSource> {
        let source: &dyn Any = self.source.as_ref();
        source.downcast_ref()
    }
}

impl FileSource for LimitedSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        scan: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let compression = scan.file_compression_type;
        let (syntax, limits, last) = (self.syntax, self.limits, Arc::default());
        let has_header = self.as_csv().is_some_and(CsvSource::has_header);
        let declared = (has_header && !self.is_found).then(|| Arc::clone(self.table_schema().file_schema()));
        let files = Arc::new(DecodingStore { store, compression, syntax, limits, enough: None, declared, last });
        let scan = FileScanConfigBuilder::from(scan.clone())
            .with_file_compression_type(FileCompressionType::UNCOMPRESSED)
            .build();
        let opener = self.opener(Arc::clone(&files) as _, &scan, partition)?;
        let reading = Arc::new(Reading { source: self.clone(), scan, partition, files });
        Ok(Arc::new(LimitedOpener { opener, reading }))
    }

    fn table_schema(&self) -> &TableSchema {
        self.source.table_schema()
    }

    fn with_batch_size(&self, rows: usize) -> Arc<dyn FileSource> {
        Arc::new(Self { source: self.source.with_batch_size(rows), rows, ..self.clone() })
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        self.source.projection()
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        Ok(self.source.try_pushdown_projection(projection)?.map(|source| self.of(source)))
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.source.metrics()
    }

    fn file_type(&self) -> &str {
        self.source.file_type()
    }

    fn fmt_extra(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt_extra(kind, f)
    }

    fn supports_repartitioning(&self) -> bool {
        self.syntax != Syntax::Array && self.source.supports_repartitioning()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.source.apply_expressions(f)
    }
}
