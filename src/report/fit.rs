//! A text in the width of a terminal: tables in blocks of columns, all other lines at words.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Narrower terminals are treated as if they had this width: below it no table can be read.
const NARROWEST: usize = 20;
/// Spaces before every line of a table, and between its columns.
const INDENT: usize = 2;
const GAP: usize = 3;
/// Columns that say what the numbers of a row are.
const SAID: [&str; 2] = ["validity", "ε is"];
/// What the line between header and rows is made of.
pub(super) const RULE: char = '─';

/// The text of a document in lines of at most `width` columns of a terminal, at least 20; unchanged without a width.
///
/// Nothing is left out. A table that is too wide is split into blocks of columns, one below the other. Every block
/// begins with the key columns, the first column and those of words right after it, and ends with the column that
/// qualifies the numbers, such as their validity; as many of them as leave room for one other column. A cell that is
/// wider than the room for its column continues in the next line. All other lines are broken at spaces and continue two
/// columns further to the right.
///
/// ```
/// # use leakbound::report::fit;
/// assert_eq!(fit("warning: one two three\n", Some(20)), "warning: one two\n  three\n");
/// assert_eq!(fit("warning: one two three\n", None), "warning: one two three\n");
/// ```
#[must_use]
pub fn fit(text: &str, width: Option<usize>) -> String {
    let Some(width) = width.map(|width| width.max(NARROWEST)) else { return text.to_owned() };
    let lines: Vec<&str> = text.lines().collect();
    let mut fitted = String::with_capacity(text.len());
    let mut at = 0;
    while at < lines.len() {
        match Table::begins(&lines[at..]) {
            Some(table) => {
                let whole = &lines[at..at + table.lines];
                at += whole.len();
                if whole.iter().all(|line| line.width() <= width) {
                    whole.iter().for_each(|line| push(&mut fitted, line));
                } else {
                    table.split(width, &mut fitted);
                }
            }
            None => {
                wrap(lines[at], width, &mut fitted);
                at += 1;
            }
        }
    }
    fitted
}

fn push(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Breaks a line at spaces; words that are longer than a line are broken anywhere.
fn wrap(line: &str, width: usize, fitted: &mut String) {
    if line.width() <= width {
        return push(fitted, line);
    }
    let indent = (line.len() - line.trim_start_matches(' ').len()).min(width / 2);
    let further = (indent + INDENT).min(width / 2);
    for (index, piece) in pieces(line.trim_start_matches(' '), width - indent, width - further).iter().enumerate() {
        push(fitted, &format!("{}{piece}", " ".repeat(if index == 0 { indent } else { further })));
    }
}

/// A text in pieces of at most `first` columns and then at most `others`, broken after spaces if there are any.
fn pieces(text: &str, first: usize, others: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let (mut piece, mut used) = (String::new(), 0);
    for word in text.split_inclusive(' ') {
        let room = |pieces: &Vec<String>| if pieces.is_empty() { first } else { others };
        let wide = word.trim_end_matches(' ').width();
        if used > 0 && used + wide > room(&pieces) {
            pieces.push(std::mem::take(&mut piece));
            used = 0;
        }
        for character in word.chars() {
            let wide = character.width().unwrap_or(0);
            // A space at the end of a line needs no room.
            if used + wide > room(&pieces) && character != ' ' {
                pieces.push(std::mem::take(&mut piece));
                used = 0;
            }
            piece.push(character);
            used += wide;
        }
    }
    if !piece.is_empty() || pieces.is_empty() {
        pieces.push(piece);
    }
    pieces.iter_mut().for_each(|piece| piece.truncate(piece.trim_end_matches(' ').len()));
    pieces
}

/// A table as it was laid out without a limit.
struct Table {
    /// Lines of the text that it takes.
    lines: usize,
    columns: Vec<Column>,
}

/// A column with the cells of the header and of every row.
struct Column {
    cells: Vec<String>,
    left: bool,
    width: usize,
}

impl Table {
    /// The table that begins with these lines, if one does: a header, a rule, and rows.
    ///
    /// Columns are [`GAP`] spaces apart in every line, and no cell has that many in a row. A line that fills the space
    /// between two columns of the lines above is not a row.
    fn begins(lines: &[&str]) -> Option<Self> {
        let indented = |line: &str| line.starts_with("  ") && !line.trim().is_empty();
        let [header, rule, rows @ ..] = lines else { return None };
        if !indented(header) || !indented(rule) || rule.trim().chars().any(|character| character != RULE) {
            return None;
        }
        let mut spans = spans(&places(header));
        let mut taken = vec![places(header)];
        for row in rows.iter().take_while(|row| indented(row)) {
            let row = places(row);
            let both = common(&spans, &self::spans(&row));
            if both.len() < spans.len() {
                break;
            }
            spans = both;
            taken.push(row);
        }
        let columns = spans.iter().map(|&(start, end)| Column::new(&taken, start, end)).collect();
        Some(Self { lines: taken.len() + 1, columns })
    }

    /// Writes the table in blocks of columns.
    fn split(mut self, width: usize, fitted: &mut String) {
        let all = width - INDENT;
        if self.columns.len() < 2 {
            self.columns.iter_mut().for_each(|column| column.width = column.width.min(all));
            return write(self.columns.iter(), false, fitted);
        }
        let words = self.columns.iter().skip(1).take_while(|column| column.left).count();
        let mut others = self.columns.split_off((1 + words).min(self.columns.len() - 1));
        let mut keys = self.columns;
        let said = others.iter().position(|column| SAID.contains(&&*column.cells[0])).filter(|_| others.len() > 1);
        let mut said: Vec<Column> = said.map(|place| others.remove(place)).into_iter().collect();
        // What every block has leaves room for one of the others.
        let most = |others: &[Column]| all - others.iter().map(|column| column.width).max().unwrap_or(0).min(all / 2);
        while !narrow(keys.iter_mut().chain(&mut said), most(&others)) {
            match (said.pop(), keys.len()) {
                (Some(said), _) => others.push(said),
                (None, 1) => {
                    keys[0].width = keys[0].width.min(most(&others).saturating_sub(GAP));
                    break;
                }
                (None, _) => others.insert(0, keys.remove(keys.len() - 1)),
            }
        }
        let room = |columns: &[Column]| columns.iter().map(|column| column.width + GAP).sum::<usize>();
        let left = all - room(&keys) - room(&said);
        let mut block: Vec<Column> = Vec::new();
        let mut goes_on = false;
        for mut column in others {
            column.width = column.width.min(left);
            if !block.is_empty() && room(&block) + column.width > left {
                write(keys.iter().chain(&block).chain(&said), goes_on, fitted);
                goes_on = true;
                block.clear();
            }
            block.push(column);
        }
        write(keys.iter().chain(&block).chain(&said), goes_on, fitted);
    }
}

/// Narrows the widest columns, down to their longest words, until they and the gaps after them take at most `most`:
/// whether they do.
fn narrow<'a>(columns: impl Iterator<Item = &'a mut Column>, most: usize) -> bool {
    let longest = |column: &Column| {
        column.cells.iter().flat_map(|cell| cell.split(' ')).map(UnicodeWidthStr::width).max().unwrap_or(0)
    };
    let mut columns: Vec<(usize, &mut Column)> = columns.map(|column| (longest(column), column)).collect();
    if columns.iter().map(|(longest, _)| longest + GAP).sum::<usize>() > most {
        return false;
    }
    let mut above = columns.iter().map(|(_, column)| column.width + GAP).sum::<usize>().saturating_sub(most);
    while above > 0 {
        let wide = columns.iter_mut().filter(|(longest, column)| column.width > *longest);
        let Some((_, widest)) = wide.max_by_key(|(_, column)| column.width) else { break };
        widest.width -= 1;
        above -= 1;
    }
    true
}

/// Writes columns side by side, with an empty line before continued ones.
fn write<'a>(columns: impl Iterator<Item = &'a Column>, goes_on: bool, fitted: &mut String) {
    let columns: Vec<&Column> = columns.collect();
    if goes_on {
        fitted.push('\n');
    }
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for row in 0..rows {
        let cells: Vec<Vec<String>> =
            columns.iter().map(|column| pieces(&column.cells[row], column.width, column.width)).collect();
        for line in 0..cells.iter().map(Vec::len).max().unwrap_or(1) {
            let mut text = " ".repeat(INDENT);
            for (index, (column, cell)) in columns.iter().zip(&cells).enumerate() {
                let cell = cell.get(line).map_or("", String::as_str);
                let fill = " ".repeat(column.width.saturating_sub(cell.width()));
                let gap = if index == 0 { String::new() } else { " ".repeat(GAP) };
                text += &if column.left { format!("{gap}{cell}{fill}") } else { format!("{gap}{fill}{cell}") };
            }
            push(fitted, &text);
        }
        if row == 0 {
            let length = columns.iter().map(|column| column.width + GAP).sum::<usize>() - GAP;
            push(fitted, &format!("{}{}", " ".repeat(INDENT), RULE.to_string().repeat(length)));
        }
    }
}

impl Column {
    fn new(lines: &[Vec<Place>], start: usize, end: usize) -> Self {
        // A mark without a width belongs to the character before it.
        let own = |place: &&Place| (start..end).contains(&(place.column.saturating_sub(usize::from(place.width == 0))));
        let inside = |line: &Vec<Place>| {
            let cell: String = line.iter().filter(own).map(|place| place.character).collect();
            cell.trim().to_owned()
        };
        let at_start = |line: &Vec<Place>| {
            let first = line.iter().find(|place| place.column >= start && place.character != ' ');
            first.is_none_or(|place| place.column >= end || place.column == start)
        };
        let cells: Vec<String> = lines.iter().map(inside).collect();
        let width = cells.iter().map(|cell| cell.width()).max().unwrap_or(0).max(1);
        Self { left: lines.iter().all(at_start), cells, width }
    }
}

/// A character and the column of the terminal that it begins in.
#[derive(Clone, Copy)]
struct Place {
    column: usize,
    character: char,
    width: usize,
}

fn places(line: &str) -> Vec<Place> {
    let mut column = 0;
    let place = |character: char| {
        let width = character.width().unwrap_or(0);
        let place = Place { column, character, width };
        column += width;
        place
    };
    line.chars().map(place).collect()
}

/// The places of text in a line: pieces that are at least [`GAP`] spaces apart.
fn spans(line: &[Place]) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for place in line.iter().filter(|place| place.character != ' ') {
        let end = place.column + place.width;
        match spans.last_mut() {
            Some(last) if place.column < last.1 + GAP => last.1 = end,
            _ => spans.push((place.column, end)),
        }
    }
    spans
}

/// The places of text in one of two lines or in both.
fn common(one: &[(usize, usize)], other: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = one.iter().chain(other).copied().collect();
    all.sort_unstable();
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (start, end) in all {
        match spans.last_mut() {
            Some(last) if start < last.1 + GAP => last.1 = last.1.max(end),
            _ => spans.push((start, end)),
        }
    }
    spans
}

#[cfg(test)]
mod tests;
