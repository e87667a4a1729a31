//! Results: written to staging files, which take their places when they are complete.

use std::io::BufWriter;
use std::path::Path;

use anyhow::Result;
use datafusion::dataframe::DataFrame;

use super::{Event, Run};
use crate::export::{Form, Format, StagedFile, StagedFolder, write_rows};
use crate::pipeline::is_out_of_memory;
use crate::pipeline::query::Parameters;

impl Run {
    /// Writes a result to a staging file. Returns the number of rows, too.
    pub async fn stage(
        &self,
        rows: DataFrame,
        path: &Path,
        form: Form,
        parameters: &Parameters,
    ) -> Result<(StagedFile, u64)> {
        self.tell(Event::Stage("writing"));
        let about = self.about_with(parameters);
        let stage = async |rows: DataFrame| {
            let rows = rows.execute_stream().await?;
            let mut staged = StagedFile::create(path, self.engine.stores())?;
            let count = write_rows(rows, form, &about, &mut BufWriter::new(&mut staged)).await?;
            anyhow::Ok((staged, count))
        };
        let sorting = self.workspace.joined_by_sorting(&rows);
        match (stage(rows).await, sorting) {
            (Err(error), Some(sorting)) if is_out_of_memory(&error) => stage(sorting).await,
            (staged, _) => staged,
        }
    }

    /// Writes a table of a folder. Returns the number of its rows.
    pub(crate) async fn write_into(&self, folder: &StagedFolder, name: &str, rows: DataFrame) -> Result<u64> {
        let path = folder.path().join(format!("{name}.parquet"));
        let (staged, count) = self.stage(rows, &path, Form::of(Format::Parquet), &self.workspace.parameters).await?;
        staged.commit()?;
        Ok(count)
    }
}
