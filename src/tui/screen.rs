//! The screen: header, panes, footer, and the popup over them.

use ratatui::Frame;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};

use crate::escape;
use crate::report::{name, question};

use super::app::{App, Pane};
use super::choose::Choosing;
use super::panes::{PaneLines, pane};
use super::popup::{Popup, TextPopup};
use super::words::cell;

/// The least size of a screen with all panes, in columns and rows.
const LEAST: (u16, u16) = (72, 20);

/// Whether a screen of so many columns and rows has no room for the panes.
pub(super) fn too_small(width: u16, height: u16) -> bool {
    width < LEAST.0 || height < LEAST.1
}

/// The message on a screen that is too small: as much as fits its width.
fn size_message(width: u16, height: u16) -> String {
    let (columns, rows) = LEAST;
    let forms = [
        format!("{width}x{height} is too small: needs {columns}x{rows}; q quits"),
        format!("needs {columns}x{rows}; q quits"),
        format!("{columns}x{rows}; q quits"),
        "q quits".to_owned(),
    ];
    forms.into_iter().find(|form| form.len() <= usize::from(width)).unwrap_or_else(|| "q".to_owned())
}

/// Draws the explorer. A character that a terminal would not show is drawn as a question mark: names and popups are
/// escaped before.
pub fn draw(app: &App, frame: &mut Frame) {
    draw_all(app, frame);
    for cell in &mut frame.buffer_mut().content {
        if !cell.symbol().chars().all(escape::is_printable) {
            cell.set_symbol("?");
        }
    }
}

fn draw_all(app: &App, frame: &mut Frame) {
    let area = frame.area();
    if too_small(area.width, area.height) {
        return frame.render_widget(Paragraph::new(size_message(area.width, area.height)), area);
    }
    let [top, middle, bottom] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]).areas(area);
    frame.render_widget(header(app, usize::from(top.width)), top);
    if app.zoom {
        draw_pane(app, app.focus, middle, frame);
    } else {
        for (which, area) in areas(middle) {
            draw_pane(app, which, area, frame);
        }
    }
    frame.render_widget(footer(app), bottom);
    match &app.popup {
        None => {}
        Some(Popup::Text(text)) => draw_text(app, text, middle, frame),
        Some(Popup::Choose(choosing)) => draw_choice(app, choosing, middle, frame),
    }
}

/// The screen as text: a line a row, without trailing blanks.
pub fn screen(app: &App, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory cannot fail");
    let drawn = terminal.draw(|frame| draw(app, frame)).expect("memory cannot fail");
    let mut text = String::new();
    for y in 0..height {
        let mut row = String::new();
        let mut x = 0;
        while let Some(cell) = drawn.buffer.cell((x, y)).filter(|_| x < width) {
            row.push_str(cell.symbol());
            // A character of two columns leaves the second cell empty.
            x += Span::raw(cell.symbol()).width().max(1) as u16;
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// The area of each pane.
fn areas(area: Rect) -> [(Pane, Rect); 5] {
    let [lanes, middle, bottom] =
        Layout::vertical([Constraint::Length(9), Constraint::Fill(1), Constraint::Fill(1)]).areas(area);
    let [requests, slots] = Layout::horizontal([Constraint::Min(50), Constraint::Percentage(40)]).areas(middle);
    let [decisions, record] =
        Layout::horizontal([Constraint::Length((area.width / 5 * 2).max(45)), Constraint::Fill(1)]).areas(bottom);
    [
        (Pane::Lanes, lanes),
        (Pane::Requests, requests),
        (Pane::Slots, slots),
        (Pane::Decisions, decisions),
        (Pane::Record, record),
    ]
}

fn draw_pane(app: &App, which: Pane, area: Rect, frame: &mut Frame) {
    let focused = which == app.focus;
    let inside = Block::bordered().inner(area);
    let (title, PaneLines { lines, at, head }) = pane(app, which, usize::from(inside.width));
    let block = block(app, &title, focused);
    frame.render_widget(block, area);
    let room = usize::from(inside.height).saturating_sub(head);
    let rest = lines.len() - head;
    // Line `at` stays in sight, with two lines below it if there are so many.
    let wanted = (at.saturating_sub(head) + 3).saturating_sub(room) as i32 + app.scroll[which as usize];
    let first = wanted.clamp(0, rest.saturating_sub(room) as i32) as usize;
    let mut shown: Vec<Line> = lines[..head].to_vec();
    shown.extend(lines[head..].iter().skip(first).take(room).cloned());
    let more = (rest > first + room).then(|| rest - first - room);
    frame.render_widget(Paragraph::new(shown), inside);
    if let Some(more) = more {
        let text = format!(" {more} more ");
        let width = text.len() as u16;
        if area.width > width + 2 {
            let place = Rect { x: area.right() - width - 1, y: area.bottom() - 1, width, height: 1 };
            frame.render_widget(Paragraph::new(Span::styled(text, app.theme.faint())), place);
        }
    }
}

fn block(app: &App, title: &str, focused: bool) -> Block<'static> {
    let style = if focused { app.theme.here() } else { Style::new() };
    let title = if focused { format!("[{title}]") } else { format!(" {title} ") };
    Block::new()
        .borders(Borders::ALL)
        .border_set(app.theme.border(focused))
        .border_style(style)
        .title(Span::styled(title, style))
}

fn header(app: &App, columns: usize) -> Line<'static> {
    let session = &app.session;
    let position = session.position();
    let number = session.number(position.turn).unwrap_or(0);
    let last = session.turns().checked_sub(1).and_then(|last| session.number(last)).unwrap_or(0);
    let verdict = session.judgement().verdict;
    let all = session.judgement().findings.len();
    let found = session.findings().len();
    let mut spans = vec![
        Span::raw(format!("{}  turn {number}/{last}  {}  ", session.rule().name(), session.view().live_view.now)),
        Span::raw("ends "),
        Span::styled(name::verdict(verdict), app.theme.verdict(verdict)),
    ];
    if all > 0 {
        spans.push(Span::raw(format!("  found {found}/{all}")));
    }
    // The name of the file gets the columns that are left.
    let room = columns.saturating_sub(Line::from(spans.clone()).width() + 1);
    let title = if Span::raw(&app.title).width() > room {
        format!("{}..", cell(&app.title, room.saturating_sub(2)).trim_end())
    } else {
        app.title.clone()
    };
    spans.insert(0, Span::styled(format!("{title} "), app.theme.here()));
    Line::from(spans)
}

fn footer(app: &App) -> Line<'static> {
    if !app.note.is_empty() {
        return Line::from(Span::styled(app.note.clone(), app.theme.here()));
    }
    let open = app.session.questions().len();
    let choices = match open {
        0 => String::new(),
        open => format!("c {open} open  "),
    };
    let keys = "? keys  arrows step  b boundary  d differs  f finding  r rule  q quit";
    let given = match app.session.answers().len() {
        0 => String::new(),
        given => format!("  {given} answers given"),
    };
    let keys = Span::styled(format!("{keys}{given}"), app.theme.faint());
    Line::from(vec![Span::styled(choices, app.theme.here()), keys])
}

/// An area in the middle for content of this size, cut to `area`.
fn over(area: Rect, width: usize, height: usize) -> Rect {
    let width = (width as u16 + 4).min(area.width);
    let height = (height as u16 + 2).min(area.height);
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

fn draw_over(app: &App, title: &str, lines: Vec<Line<'static>>, area: Rect, frame: &mut Frame) {
    frame.render_widget(Clear, area);
    let block = block(app, title, true);
    let inside = block.inner(area);
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(lines), inside);
}

fn draw_text(app: &App, text: &TextPopup, area: Rect, frame: &mut Frame) {
    let room = usize::from(area.width).saturating_sub(4).max(1);
    let lines: Vec<String> = text.lines.iter().flat_map(|line| folded(line, room)).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).max(text.title.len());
    let area = over(area, width, lines.len());
    let first = text.first.min(lines.len().saturating_sub(usize::from(area.height).saturating_sub(2)));
    let shown = lines[first..].iter().map(|line| Line::from(format!(" {line}"))).collect();
    draw_over(app, &text.title, shown, area, frame);
}

/// A line, folded into pieces of at most `room` characters.
fn folded(line: &str, room: usize) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    if chars.is_empty() {
        return vec![String::new()];
    }
    chars.chunks(room).map(|piece| piece.iter().collect()).collect()
}

fn draw_choice(app: &App, choosing: &Choosing, area: Rect, frame: &mut Frame) {
    let (questions, at, answer) = choosing.state();
    let mut lines = Vec::new();
    for (index, asked) in questions.iter().enumerate() {
        let here = index == at;
        let now = if here { answer } else { asked.answer };
        let was = if now == asked.answer {
            String::new()
        } else {
            format!(" (was {})", question::answer(asked.choice, asked.answer))
        };
        let of = if here { format!("  answer {now} of 0..{}", asked.choice.options - 1) } else { String::new() };
        let text = format!(
            "{} {}: {}{was}{of}",
            if here { ">" } else { " " },
            question::question(&app.names, asked.choice),
            question::answer(asked.choice, now)
        );
        let style = if here { app.theme.here() } else { Style::new() };
        lines.push(Line::from(Span::styled(text, style)));
    }
    let keys = "up down: question   left right, digits: answer   enter: apply   esc: cancel";
    let width = lines.iter().map(Line::width).max().unwrap_or(0).max(keys.len());
    let height = (lines.len() + 2).min(usize::from(area.height).saturating_sub(2));
    let room = height.saturating_sub(2).max(1);
    let first = (at + 1).saturating_sub(room);
    let mut shown: Vec<Line> = lines.into_iter().skip(first).take(room).collect();
    shown.push(Line::default());
    shown.push(Line::from(Span::styled(keys, app.theme.faint())));
    draw_over(app, "choose", shown, over(area, width, height), frame);
}
