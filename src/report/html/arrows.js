// Reads of shared fields: an arc from the span that wrote a field of a request object to the result that read it.

const READS_MOST = 300;

function readShown(run, i) {
  const { arrow } = run;
  if (state.reads === "none" || !state.fields.has(arrow.field[i])) return false;
  return state.reads === "all" || arrow.newer[i] > 0;
}

const readHeat = (run, i) => (run.arrow.changed[i] ? "hot" : run.arrow.newer[i] ? "warm" : "cool");

const HEATS = ["hot", "warm", "cool"];

// The reads of the current selection by heat, in order of the results. Computed once for each selection.
function readsOf(run) {
  const key = `${state.reads} ${[...state.fields].sort().join()}`;
  if (run.readsKey !== key) {
    run.readsKey = key;
    run.readsBy = { hot: [], warm: [], cool: [] };
    for (const i of run.arrows) if (readShown(run, i)) run.readsBy[readHeat(run, i)].push(i);
  }
  return run.readsBy;
}

function drawReads(f) {
  const { run } = f;
  const { arrow } = run;
  const { span0, span1 } = f.scale;
  const [base] = laneBox(0);
  const by = readsOf(run);
  const shown = [];
  let short = 0;
  let left = 0;
  // A read belongs to its result; its writer may be out of view on the left. Reads too small to show are only counted.
  for (const heat of HEATS) {
    const list = by[heat];
    const found = [];
    let many = 0;
    for (let at = lower(list, f.ua, (i) => span1[arrow.to[i]]); at < list.length; at++) {
      const i = list[at];
      const [from, to] = [arrow.from[i], arrow.to[i]];
      if (span0[to] > f.ub) break;
      const middle = (span0[to] + span1[to]) / 2;
      // A result that reads its own write: from the beginning of the span to its end.
      const x1 = f.x(from === to ? span1[to] : middle);
      const x0 = from < 0 ? x1 - 16 : f.x(from === to ? span0[to] : (span0[from] + span1[from]) / 2);
      if (x1 - x0 < 6) short += 1;
      else if ((many += 1) <= READS_MOST) found.push([i, x0, x1, from >= 0]);
    }
    if (many + shown.length <= READS_MOST) shown.push(...found);
    else left += many;
  }
  const words0 = [left ? `${counted(left, "read")} not drawn: zoom in` : "", short ? `${counted(short, "read")} too short to show here` : ""];
  const note = words0.filter(Boolean).join(", ");
  const ranks = WORDS.fields.map((_, field) => field).filter((field) => state.fields.has(field) && (state.reads === "all" ? run.byField[field].reads : run.byField[field].newer));
  // Reads that changed a decision come first: named first, and drawn last, on top.
  const arcs = [];
  let words = "";
  const taken = [];
  for (const [i, x0, x1, known] of shown) {
    const hot = readHeat(run, i);
    const level = 14 + (ranks.indexOf(arrow.field[i]) * (base - 32)) / Math.max(ranks.length - 1, 1);
    const top = base - (base - level) / 0.75;
    const d = `M${px(x0)} ${base - 1}C${px(x0)} ${px(top)} ${px(x1)} ${px(top)} ${px(x1)} ${base - 2}`;
    arcs.push(`<path class="read ${hot}${known ? "" : " from-afar"}" data-a="${i}" d="${d}" marker-end="url(#tip-${hot})"/><path class="near" data-a="${i}" d="${d}"/>`);
    const text = WORDS.fields[arrow.field[i]] + (arrow.changed[i] ? ": changed the decision" : "");
    const middle = (x0 + x1) / 2;
    const half = (text.length * 5.5) / 2 + 3;
    const fits = x1 - x0 > half * 1.2 && middle - half > f.left && middle + half < f.right;
    if (fits && !taken.some(([x, w, y]) => Math.abs(x - middle) < half + w && Math.abs(y - level) < 11)) {
      taken.push([middle, half, level]);
      words += `<text class="said ${hot}" x="${px(middle)}" y="${px(level - 3)}">${text}</text>`;
    }
  }
  if (note) words += `<text class="note" x="${f.right - 4}" y="9">${note}</text>`;
  return arcs.reverse().join("") + words;
}
