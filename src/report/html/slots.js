// The lanes of the slots: owner, content, and label of each; and the boxes that scroll rows.

const SLOT = 25;
const boxes = {};

// A box of rows with a limited height. The SVG stays in place while its rows scroll.
function makeBox(name) {
  const outer = $(`${name}-box`);
  boxes[name] = { outer, tall: outer.firstElementChild, svg: $(name), scroll: 0, shown: 0, total: 0 };
  outer.addEventListener("scroll", () => {
    boxes[name].scroll = outer.scrollTop;
    frame();
  }, { passive: true });
}

function fitBox(box, f, rows, each) {
  const total = Math.max(rows.length, 1) * each + 4;
  const most = state.printing ? Infinity : box.most;
  const shown = Math.min(total, most);
  if (box.total !== total || box.shown !== shown) {
    [box.total, box.shown] = [total, shown];
    box.tall.style.height = `${total}px`;
    box.outer.style.height = `${shown}px`;
  }
  box.scroll = clamp(box.scroll, 0, Math.max(0, total - shown));
  size(box.svg, f, shown);
}

function rowsSeen(box, rows, each) {
  const scroll = state.printing ? 0 : box.scroll;
  const first = clamp(Math.floor(scroll / each), 0, rows.length);
  const last = Math.min(rows.length, Math.ceil((scroll + box.shown) / each));
  return { first, last, y: first * each - scroll };
}

// Scrolls a row into view.
function showRow(box, index, each) {
  if (index < 0) return;
  const top = index * each;
  if (top < box.scroll || top + each > box.scroll + box.shown) {
    box.scroll = Math.max(0, top - Math.max(0, (box.shown - each) / 2));
    box.outer.scrollTop = box.scroll;
  }
}

function segsInView(f, slot, visit) {
  const ids = f.run.slots.get(slot);
  const { seg0, seg1 } = f.scale;
  for (let at = lower(ids, f.ua, (i) => seg1[i]); at < ids.length && seg0[ids[at]] <= f.ub; at++) {
    if (visit(ids[at]) === false) return;
  }
}

function slotRows(f) {
  const { run } = f;
  if (!state.live && !state.printing) return run.slotIds;
  return run.slotIds.filter((slot) => {
    // A state that is cached and right all the time is no change.
    let news = false;
    segsInView(f, slot, (i) => {
      const { owner, bad, t0, t1 } = run.seg;
      news = owner[i] > 0 && (OWNERS[owner[i]] !== "cached" || bad[i] > 0 || t0[i] > state.a || t1[i] < state.b);
      return !news;
    });
    return news;
  });
}

function drawSlots(f) {
  const rows = slotRows(f);
  const box = boxes.slots;
  fitBox(box, f, rows, SLOT);
  const { first, last, y } = rowsSeen(box, rows, SLOT);
  $("slots-count").textContent = rows.length < f.run.slotIds.length ? `${rows.length} of ${f.run.slotIds.length}` : `${rows.length}`;
  let out = turnLines(f, box.shown);
  let names = "";
  for (let at = first; at < last; at++) {
    const top = y + (at - first) * SLOT;
    out += drawSlot(f, rows[at], top);
    names += `<text class="name" x="${f.left - 12}" y="${top + 17}">s${rows[at]}</text>`;
  }
  box.svg.querySelector(".plot").innerHTML = out;
  box.svg.querySelector(".names").innerHTML = names || `<text class="sub" x="${f.left - 12}" y="17">none</text>`;
}

function drawSlot(f, slot, top) {
  const { run, left, right } = f;
  const { seg } = run;
  const y = top + 3;
  const h = SLOT - 6;
  let out = `<path class="life" d="M${left} ${y + h / 2}H${right}"/>`;
  let words = "";
  let over = "";
  // Adjacent segments below a pixel are merged by writer.
  let run0 = null;
  const flush = () => {
    if (run0) out += `<rect class="seg small" style="--h:${px(hueOf(run0.req))};--d:${run0.deep}" x="${px(run0.x0)}" y="${y}" width="${px(Math.max(run0.x1 - run0.x0, 0.6))}" height="${h}"/>`;
    run0 = null;
  };
  segsInView(f, slot, (i) => {
    const x0 = clamp(f.x(f.scale.seg0[i]), left, right);
    const x1 = clamp(f.x(f.scale.seg1[i]), left, right);
    const fit = WORDS.fits[seg.fit[i]];
    const width = x1 - x0;
    const owner = OWNERS[seg.owner[i]];
    const bad = seg.bad[i] > 0;
    if (seg.owner[i] === 0 && !bad) return flush();
    const req = seg.writer[i] >= 0 ? seg.writer[i] : seg.owner_req[i];
    const deep = Math.round((Math.max(seg.holds[i], 0) / run.holdsMost) * 100) / 100;
    if (width < 2.5) {
      if (run0 && run0.req === req && x0 - run0.x1 < 1) [run0.x1, run0.deep] = [x1, deep];
      else {
        flush();
        run0 = { req, deep, x0, x1 };
      }
    } else {
      flush();
      const kind = seg.holds[i] < 0 ? " empty" : "";
      out += `<rect class="seg o-${owner.replace(" ", "-")}${kind}" data-g="${i}" style="--h:${px(hueOf(req))};--d:${deep}" x="${px(x0)}" y="${y}" width="${px(width - 0.6)}" height="${h}" rx="2"/>`;
      if (owner === "cached") out += `<path class="tree" style="--h:${px(hueOf(req))}" d="M${px(x0)} ${y + h - 1}H${px(x1 - 0.6)}"/>`;
      const text = segWords(run, i, width);
      if (text) words += `<text class="in${fit === "wrong" ? " wrong" : deep > 0.55 && kind === "" ? " deep" : ""}" x="${px(x0 + 4)}" y="${y + 13.5}">${text}</text>`;
    }
    if (bad) over += `<rect class="${fit}" data-g="${i}" x="${px(x0)}" y="${y}" width="${px(Math.max(width - 0.6, 2))}" height="${h}" rx="2"/>`;
  });
  flush();
  return out + over + words;
}

// Content, owner and label of a segment, as much as fits.
function segWords(run, i, width) {
  const { seg } = run;
  const req = seg.writer[i] >= 0 ? seg.writer[i] : seg.owner_req[i];
  const holds = seg.holds[i] < 0 ? "∅" : `${seg.holds[i]}`;
  const of = req >= 0 ? ` of ${nameOf(req)}` : "";
  const label = seg.label[i] >= 0 ? ` label ${seg.label[i]}` : "";
  const owner = OWNERS[seg.owner[i]];
  const differs = seg.fit[i] === FIT.wrong || seg.fit[i] === FIT.exposed;
  const middle = seg.label[i] >= 0 ? `${holds}${differs ? " ≠ " : " = "}${seg.label[i]}` : holds;
  const forms = [`${holds}${of},${label} ${owner}`, `${holds}${of}${label ? "," + label : ""}`, `${holds}${of}`, middle, holds];
  if (seg.label[i] >= 0) forms.splice(2, 1);
  const text = forms.find((text) => text.length * 6 + 8 <= width);
  return text ? html(text.replace(", ", seg.label[i] >= 0 ? ", " : " · ")) : "";
}
