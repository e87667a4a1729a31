//! The matches, groups and texts that a report has.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow::array::{Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use futures::TryStreamExt;

use super::choice::{CONTEXT, Documents};
use super::edits::{Edit, edits};
use super::plots::Plot;
use super::result::Tables;
use super::rows::{Columns, Group, Match, Member, Place, number_of, share_of};
use super::texts::Text;
use crate::pipeline::query::{self, Literal};
use crate::run::Run;

/// The largest number of characters that a report shows of a value of a column.
const VALUE: usize = 200;

/// The divisor of the room of a report: groups may use one part in this many if there are matches, too.
const GROUPS: i64 = 4;

/// The number of places that each group shows before any group shows more.
const FEW: usize = 5;

/// The rows of a result, best first. A report shows as many of them as it has room for.
pub(super) struct Candidates {
    pub(super) documents: Documents,
    pub(super) matches: Vec<Match>,
    pub(super) groups: Vec<Group>,
}

/// The documents, matches and groups that a page has.
pub(super) struct Content {
    pub(super) documents: Vec<Document>,
    pub(super) matches: Vec<(Match, Vec<Edit>)>,
    pub(super) groups: Vec<(Group, Vec<Vec<Edit>>)>,
    /// The names of the users' columns.
    pub(super) columns: Vec<String>,
    pub(super) plots: Vec<Plot>,
}

/// A document of a report.
pub(super) struct Document {
    pub(super) side: i64,
    pub(super) id: String,
    pub(super) text: Text,
    /// The values of the users' columns.
    pub(super) values: Vec<Option<String>>,
    /// The time, in seconds since 1970.
    pub(super) seconds: Option<f64>,
}

impl Candidates {
    /// Reads the rows of a result in their order.
    pub(super) async fn read(run: &mut Run, tables: &Tables, fields: usize) -> Result<Self> {
        let mut candidates = Self { documents: Documents::default(), matches: Vec::new(), groups: Vec::new() };
        if tables.matches.is_some() {
            let mut rows = run.rows(query::REPORT_BEST).await?.execute_stream().await?;
            while let Some(batch) = rows.try_next().await? {
                candidates.add_matches(&batch, fields, tables.about.side_b())?;
            }
        }
        if tables.groups.is_some() {
            let mut rows = run.rows(query::REPORT_MEMBERS).await?.execute_stream().await?;
            while let Some(batch) = rows.try_next().await? {
                candidates.add_members(&batch)?;
            }
        }
        Ok(candidates)
    }

    fn add_matches(&mut self, batch: &RecordBatch, fields: usize, side_b: i64) -> Result<()> {
        let columns = Columns(batch);
        let (keys, kinds) = (columns.texts("key")?, columns.texts("kind")?);
        let (doc_a, doc_b) = (columns.texts("doc_a")?, columns.texts("doc_b")?);
        let [a_start, a_end, b_start, b_end] =
            columns.all_numbers(["char_a_start", "char_a_end", "char_b_start", "char_b_end"])?;
        let sentences = columns.all_numbers(["sent_a_start", "sent_a_end", "sent_b_start", "sent_b_end"])?;
        let similarities = columns.shares("similarity")?;
        let fields = (0..fields).map(|i| columns.shown(&format!("field_{i}"), VALUE)).collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let mut place = |side, id: &StringArray, start: &Int64Array, end: &Int64Array| Place {
                document: self.documents.number(side, id.value(row)),
                characters: start.value(row)..end.value(row),
            };
            let (a, b) = (place(0, &doc_a, &a_start, &a_end), place(side_b, &doc_b, &b_start, &b_end));
            let in_sentences: Option<Vec<_>> = sentences.iter().map(|column| number_of(column, row)).collect();
            self.matches.push(Match {
                key: keys.value(row).to_owned(),
                a,
                b,
                sentences: in_sentences.and_then(|numbers| numbers.try_into().ok()),
                similarity: share_of(&similarities, row),
                kind: kinds.is_valid(row).then(|| kinds.value(row).to_owned()),
                fields: fields.iter().map(|values| values[row].clone()).collect(),
            });
        }
        Ok(())
    }

    fn add_members(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = Columns(batch);
        let (keys, names, ids) = (columns.texts("key")?, columns.texts("group_id")?, columns.texts("doc_id")?);
        let [sides, starts, ends, documents, places] =
            columns.all_numbers(["side", "char_start", "char_end", "documents", "places"])?;
        let similarities = columns.shares("similarity")?;
        let (representatives, ignored) = (columns.flags("representative")?, columns.flags("ignored")?);
        for row in 0..batch.num_rows() {
            let name = names.value(row);
            if self.groups.last().is_none_or(|group| group.name != name) {
                self.groups.push(Group {
                    name: name.to_owned(),
                    is_ignored: ignored.value(row),
                    documents: documents.value(row),
                    places: places.value(row),
                    shown: Vec::new(),
                });
            }
            let document = self.documents.number(sides.value(row), ids.value(row));
            let member = Member {
                key: keys.value(row).to_owned(),
                place: Place { document, characters: starts.value(row)..ends.value(row) },
                is_representative: representatives.is_valid(row) && representatives.value(row),
                similarity: share_of(&similarities, row),
            };
            if let Some(group) = self.groups.last_mut() {
                group.shown.push(member);
            }
        }
        Ok(())
    }

    /// Returns the matches and groups that there is room for, in their order. Groups get a share of the room: for a few
    /// places of each group, and then for more. Room that matches leave is used for more places, too.
    fn chosen(&mut self, room: i64) -> (Vec<Match>, Vec<Group>) {
        let Self { documents, matches, groups } = self;
        documents.clear();
        let share = if matches.is_empty() { room } else { room / GROUPS };
        let mut left = share;
        let mut shown: Vec<_> = groups.iter().map(|group| vec![false; group.shown.len()]).collect();
        let mut add = |documents: &mut Documents, most: usize, left: &mut i64| {
            for (group, shown) in groups.iter().zip(&mut shown) {
                add_members(documents, group, shown, most, left);
            }
        };
        add(documents, FEW, &mut left);
        add(documents, usize::MAX, &mut left);
        left += room - share;
        let mut fits =
            |row: &&Match| documents.take(&[&row.a, &row.b], CONTEXT, left).inspect(|rest| left = *rest).is_some();
        let matches = matches.iter().filter(&mut fits).cloned().collect();
        add(documents, usize::MAX, &mut left);
        let chosen = groups.iter().zip(&shown).filter(|(_, shown)| shown.contains(&true)).map(|(group, shown)| {
            let members = group.shown.iter().zip(shown).filter(|(_, is_shown)| **is_shown);
            Group { shown: members.map(|(member, _)| member.clone()).collect(), name: group.name.clone(), ..*group }
        });
        (matches, chosen.collect())
    }

    /// Returns true if there are rows that a page does not show, and the next page would show others. A row that is too
    /// large for one page is too large for the next.
    pub(super) fn are_more_than(&self, content: &Content) -> bool {
        let rows: usize = self.groups.iter().map(|group| group.shown.len()).sum();
        let of_name: HashMap<_, _> = self.groups.iter().map(|group| (&group.name, group.shown.len())).collect();
        let goes = |(group, _): &(Group, Vec<Vec<Edit>>)| match group.shown.len() {
            shown if of_name.get(&group.name) == Some(&shown) => shown,
            shown => shown - 1,
        };
        let go = content.matches.len() + content.groups.iter().map(goes).sum::<usize>();
        go > 0 && go < self.matches.len() + rows
    }

    /// Removes the rows that a page shows, so that the next page shows others. A group with further places keeps its
    /// representative.
    pub(super) fn leave_out(&mut self, content: &Content) {
        let keys = |shown: &mut dyn Iterator<Item = &str>| shown.map(str::to_owned).collect::<HashSet<_>>();
        let shown = keys(&mut content.matches.iter().map(|(row, _)| row.key.as_str()));
        self.matches.retain(|row| !shown.contains(&row.key));
        let members = content.groups.iter().flat_map(|(group, _)| &group.shown);
        let shown = keys(&mut members.map(|member| member.key.as_str()));
        for group in &mut self.groups {
            let first = first_of(group);
            let stays = |member: &Member| !shown.contains(&member.key);
            if !group.shown.iter().any(stays) {
                group.shown.clear();
                continue;
            }
            let mut at = 0;
            group.shown.retain(|member| {
                at += 1;
                stays(member) || at - 1 == first
            });
        }
        self.groups.retain(|group| !group.shown.is_empty());
    }

    /// Reads the texts of as many rows as fit into about `room` bytes.
    pub(super) async fn content(&mut self, run: &mut Run, room: i64, times: [&Literal; 2]) -> Result<Content> {
        let (mut matches, mut groups) = self.chosen(room);
        let (mut documents, columns) = self.texts(run, times).await?;
        // Documents that there is no room for have numbers, too, so the others are numbered anew.
        let mut kept = HashMap::new();
        for number in (0..self.documents.names.len()).filter(|number| self.documents.has(*number)) {
            kept.insert(number, kept.len());
        }
        let places = matches.iter_mut().flat_map(|row| [&mut row.a, &mut row.b]);
        let members = groups.iter_mut().flat_map(|group| group.shown.iter_mut().map(|member| &mut member.place));
        for place in places.chain(members) {
            place.document = *kept.get(&place.document).context("its document was taken")?;
        }
        documents.sort_by_key(|(number, _)| *number);
        let documents: Vec<_> = documents.into_iter().map(|(_, document)| document).collect();
        let text = |place: &Place| documents[place.document].text.slice(&place.characters).0;
        let mut pairs: Vec<_> = matches.iter().map(|row| (text(&row.a), text(&row.b))).collect();
        for group in &groups {
            let of = text(&group.shown[first_of(group)].place);
            pairs.extend(group.shown.iter().map(|member| (of, text(&member.place))));
        }
        let mut edits = edits(run, &pairs).await?.into_iter();
        let mut next = || edits.next().unwrap_or_default();
        let matches = matches.into_iter().map(|row| (row, next())).collect();
        let groups = groups.into_iter().map(|group| {
            let edits = group.shown.iter().map(|_| next()).collect();
            (group, edits)
        });
        let groups = groups.collect();
        Ok(Content { documents, matches, groups, columns, plots: Vec::new() })
    }

    /// Reads the chosen documents with their numbers, and the names of their columns.
    async fn texts(&self, run: &mut Run, times: [&Literal; 2]) -> Result<(Vec<(usize, Document)>, Vec<String>)> {
        let chosen: Vec<_> = (0..self.documents.names.len()).filter(|number| self.documents.has(*number)).collect();
        let names = || chosen.iter().map(|number| &self.documents.names[*number]);
        let sides: Int64Array = names().map(|(side, _)| Some(*side)).collect();
        let ids: StringArray = names().map(|(_, id)| Some(id.as_str())).collect();
        let fields = vec![Field::new("side", DataType::Int64, true), Field::new("doc_id", DataType::Utf8, true)];
        let table = RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![Arc::new(sides), Arc::new(ids)])?;
        run.workspace.session.register_batch("chosen", table)?;
        let numbers: HashMap<_, _> = chosen.iter().map(|number| (&self.documents.names[*number], *number)).collect();
        let (mut documents, mut columns) = (Vec::new(), Vec::new());
        let mut tables = vec![("documents", 0_i64, times[0])];
        if names().any(|(side, _)| *side == 1) {
            tables.push(("against_documents", 1, times[1]));
        }
        for (table, side, time) in tables {
            let parameters = &mut run.workspace.parameters;
            parameters.set("documents", Literal::of_sql(table));
            parameters.set("side", side);
            parameters.set("seconds", time.clone());
            let rows = run.rows(query::REPORT_TEXTS).await?;
            let of_user = rows.schema().fields().iter().map(|field| field.name().clone());
            let of_user: Vec<_> = of_user
                .filter(|name| {
                    !["report_id", "report_seconds", "report_text", "doc_id", "text"].contains(&name.as_str())
                })
                .collect();
            for name in &of_user {
                if !columns.contains(name) {
                    columns.push(name.clone());
                }
            }
            let mut rows = rows.execute_stream().await?;
            while let Some(batch) = rows.try_next().await? {
                let of = Columns(&batch);
                let (ids, texts, seconds) =
                    (of.texts("report_id")?, of.texts("report_text")?, of.shares("report_seconds")?);
                let has = |name: &String| of_user.contains(name);
                let values = |name| if has(name) { of.shown(name, VALUE) } else { Ok(vec![None; batch.num_rows()]) };
                let shown = columns.iter().map(values).collect::<Result<Vec<_>>>()?;
                for (row, id) in ids.iter().enumerate() {
                    let name = (side, id.unwrap_or_default().to_owned());
                    let Some(number) = numbers.get(&name) else { continue };
                    documents.push((
                        *number,
                        Document {
                            side,
                            id: name.1,
                            text: Text::new(texts.value(row), self.documents.parts(*number)),
                            values: shown.iter().map(|column| column[row].clone()).collect(),
                            seconds: share_of(&seconds, row),
                        },
                    ));
                }
            }
        }
        run.workspace.session.deregister_table("chosen")?;
        for (_, document) in &mut documents {
            document.values.resize(columns.len(), None);
        }
        Ok((documents, columns))
    }
}

/// Marks up to `most` places of a group as shown, as far as there is room for them. The representative comes first,
/// since all others are compared with it.
fn add_members(documents: &mut Documents, group: &Group, shown: &mut [bool], most: usize, left: &mut i64) {
    let first = first_of(group);
    let mut count = shown.iter().filter(|is_shown| **is_shown).count();
    for at in std::iter::once(first).chain(0..group.shown.len()) {
        if count >= most || shown[at] {
            continue;
        }
        match documents.take(&[&group.shown[at].place], 0, *left) {
            Some(rest) => (*left, shown[at], count) = (rest, true, count + 1),
            None if at == first => return,
            None => {}
        }
    }
}

/// Returns the index of the place of a group with which all others are compared: the representative, or else the first.
fn first_of(group: &Group) -> usize {
    group.shown.iter().position(|member| member.is_representative).unwrap_or(0)
}
