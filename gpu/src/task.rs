use std::ops::Range;

use crate::bound::check_threshold;
use crate::{Bound, Codes, Error, Result, Width, hamming};

/// A search: the pairs of a query and a row whose codes differ in no more bits than their bound.
#[derive(Debug)]
pub struct Task<'a> {
    queries: Codes<'a>,
    rows: Codes<'a>,
    bound: Bound<'a>,
    /// The end of the rows that each row of a self-join is compared with. These rows begin after it.
    ends: Option<Vec<u32>>,
}

impl<'a> Task<'a> {
    /// Creates a search for all pairs of a query and a row within the bound.
    pub fn range(queries: Codes<'a>, rows: Codes<'a>, bound: Bound<'a>) -> Result<Self> {
        let (a, b) = (queries.width().bits(), rows.width().bits());
        if a != b {
            return Err(Error::Invalid(format!("queries have codes of {a} bits, rows have codes of {b} bits")));
        }
        if let Bound::BySizes { table, query_sizes, row_sizes } = bound {
            if table.is_empty() {
                return Err(Error::Invalid("the table of bounds is empty".to_owned()));
            }
            for (sizes, codes, what) in [(query_sizes, queries, "queries"), (row_sizes, rows, "rows")] {
                if sizes.len() != codes.len() as usize {
                    let (sizes, codes) = (sizes.len(), codes.len());
                    return Err(Error::Invalid(format!("{sizes} sizes are given for {codes} {what}")));
                }
            }
        }
        Ok(Self { queries, rows, bound, ends: None })
    }

    /// Creates a search for the pairs of rows `a < b` within the bound `table[size of a + size of b]` whose sizes allow
    /// for a Jaccard similarity of `threshold`: `size of a as f64 / size of b as f64 >= threshold`. Rows are ordered by
    /// their sizes, ascending. A pair is given as query `a` and row `b`.
    pub fn self_join(rows: Codes<'a>, sizes: &'a [u32], table: &'a [u32], threshold: f64) -> Result<Self> {
        check_threshold(threshold)?;
        if !sizes.is_sorted() {
            return Err(Error::Invalid("the rows of a self-join stand by their sizes, ascending".to_owned()));
        }
        let mut task = Self::range(rows, rows, Bound::BySizes { table, query_sizes: sizes, row_sizes: sizes })?;
        let mut end = 0;
        let ends = sizes.iter().zip(1_u32..).map(|(a, next)| {
            end = end.max(next);
            while sizes.get(end as usize).is_some_and(|b| f64::from(*a) / f64::from(*b) >= threshold) {
                end += 1;
            }
            end
        });
        task.ends = Some(ends.collect());
        Ok(task)
    }

    /// Returns the width of all codes.
    pub fn width(&self) -> Width {
        self.rows.width()
    }

    /// Returns the codes that are looked for.
    pub fn queries(&self) -> Codes<'a> {
        self.queries
    }

    /// Returns the codes that are searched.
    pub fn rows(&self) -> Codes<'a> {
        self.rows
    }

    /// Returns the bound of the distances at which codes match.
    pub fn bound(&self) -> Bound<'a> {
        self.bound
    }

    /// Returns the rows that a query is compared with.
    pub fn rows_of(&self, query: u32) -> Range<u32> {
        match &self.ends {
            None => 0..self.rows.len(),
            Some(ends) => query + 1..ends[query as usize],
        }
    }

    /// Returns the rows that any of these queries is compared with.
    pub(crate) fn rows_of_all(&self, queries: Range<u32>) -> Range<u32> {
        if queries.is_empty() {
            return 0..0;
        }
        self.rows_of(queries.start).start..self.rows_of(queries.end - 1).end
    }

    /// Returns the queries that are compared with any of these rows.
    pub(crate) fn queries_of(&self, queries: Range<u32>, rows: Range<u32>) -> Range<u32> {
        let Some(ends) = &self.ends else { return queries };
        let reach = &ends[queries.start as usize..queries.end as usize];
        let first = reach.partition_point(|end| *end <= rows.start);
        let first = queries.start + u32::try_from(first).unwrap_or(u32::MAX);
        first..queries.end.min(rows.end.saturating_sub(1)).max(first)
    }

    /// Returns true if each query has its own rows.
    pub(crate) fn is_self_join(&self) -> bool {
        self.ends.is_some()
    }

    /// Returns true if a query and a row are within their bound.
    pub fn matches(&self, query: u32, row: u32) -> bool {
        hamming(self.queries.code(query), self.rows.code(row)) <= self.bound.of(query, row)
    }

    /// Checks the numbers of pairs that a caller gives.
    pub(crate) fn check_pairs(&self, queries: &[u32], rows: &[u32]) -> Result<()> {
        if queries.len() != rows.len() {
            let (queries, rows) = (queries.len(), rows.len());
            return Err(Error::Invalid(format!("pairs need as many queries as rows, not {queries} and {rows}")));
        }
        for (numbers, codes, what) in [(queries, self.queries, "query"), (rows, self.rows, "row")] {
            if let Some(number) = numbers.iter().find(|number| **number >= codes.len()) {
                return Err(Error::Invalid(format!("there is no {what} {number} among {}", codes.len())));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_fit_together() {
        let (narrow, wide) =
            (Codes::try_new(Width::W32, &[1, 2]).unwrap(), Codes::try_new(Width::W64, &[1, 2]).unwrap());
        let said = |task: Result<Task<'_>>| task.unwrap_err().to_string();
        let constant = Bound::Constant(1);
        assert_eq!(
            said(Task::range(narrow, wide, constant)),
            "queries have codes of 32 bits, rows have codes of 64 bits"
        );
        let sizes = |table, query_sizes| Bound::BySizes { table, query_sizes, row_sizes: &[1, 1] };
        assert_eq!(said(Task::range(narrow, narrow, sizes(&[], &[1, 1]))), "the table of bounds is empty");
        assert_eq!(said(Task::range(narrow, narrow, sizes(&[1], &[1]))), "1 sizes are given for 2 queries");
        assert_eq!(
            said(Task::self_join(narrow, &[2, 1], &[1], 0.5)),
            "the rows of a self-join stand by their sizes, ascending"
        );
        let task = Task::range(narrow, narrow, constant).unwrap();
        let said = |queries: &[u32], rows: &[u32]| task.check_pairs(queries, rows).unwrap_err().to_string();
        assert_eq!(said(&[1], &[]), "pairs need as many queries as rows, not 1 and 0");
        assert_eq!(said(&[1, 0], &[1, 2]), "there is no row 2 among 2");
    }

    #[test]
    fn a_self_join_compares_rows_whose_sizes_allow_for_the_threshold() {
        let sizes = [0, 0, 1, 4, 5, 5, 6, 9, 10];
        let words = [0; 9];
        let rows = Codes::try_new(Width::W32, &words).unwrap();
        for threshold in [0.1, 0.5, 0.8, 0.9, 1.0] {
            let task = Task::self_join(rows, &sizes, &[0], threshold).unwrap();
            for a in 0..9 {
                for b in a + 1..9 {
                    let allowed = f64::from(sizes[a as usize]) / f64::from(sizes[b as usize]) >= threshold;
                    assert_eq!(task.rows_of(a).contains(&b), allowed, "{a} and {b} at {threshold}");
                }
            }
            for (queries, rows) in [(0..9, 3..5), (2..6, 0..9), (3..4, 4..5), (8..9, 0..9), (0..9, 0..1)] {
                let given = task.queries_of(queries.clone(), rows.clone());
                for query in queries {
                    let any = task.rows_of(query).any(|row| rows.contains(&row));
                    assert!(given.contains(&query) || !any, "{query} of {rows:?} at {threshold}");
                }
            }
        }
    }
}
