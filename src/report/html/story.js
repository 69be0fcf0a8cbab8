// The story of a finding: the events that led to it, and the panel of a finding.

// The events that led to a finding: writes, decisions and donations of its request.
function storyOf(run, finding, index) {
  const req = NAMES.indexOf(finding.request);
  const of = run.reqs[req];
  if (!of) return [];
  const { step, mark, span, donation, seg } = run;
  const end = findingTimes(run)[index];
  const story = [];
  const add = (s, it, text, tone, t = span.t0[s]) => story.push({ t, turn: span.turn[s], it, text, tone });
  for (const i of of.steps) {
    const m = step.mark[i];
    if (m < 0 || !isBoundary(run, m)) continue;
    const s = run.stepSpan(i);
    const about = finding.label === null || mark.due_len[m] === finding.label || mark.label[m] === finding.label || mark.slot[m] === finding.slot || mark.due_slot[m] === finding.slot;
    if (!about) continue;
    if (mark.due_slot[m] >= 0) add(s, link("step", i), `the forward of ${stepWords(run, i)} writes length ${mark.due_len[m]} into s${mark.due_slot[m]}`);
    const r = run.resultSpan(i);
    if (r < 0) continue;
    const cls = mark.class[m];
    const word = cls >= 0 ? WORDS.classes[cls] : "";
    const look = Number.isNaN(step.lookahead[i]) ? "" : ` (L ${step.lookahead[i]})`;
    if (mark.fired[m]) add(r, link("step", i), `the result of ${stepWords(run, i)}${look} fires: ${firedWords(run, m)}${word && word !== "agree" ? `: ${word}` : ""}`, BAD.has(cls) ? "bad" : "");
    else if (cls >= 0) add(r, link("step", i), `the result of ${stepWords(run, i)}${look} does not fire${word ? `: ${word}` : ""}`, BAD.has(cls) ? "bad" : "");
  }
  for (const d of of.donations) {
    if (donation.slot[d] !== finding.slot && donation.label[d] !== finding.label) continue;
    add(donation.span[d], link("donation", d), `s${donation.slot[d]} is donated under label ${donation.label[d]}`, wrongDonation(run, d) ? "bad" : "", span.t1[donation.span[d]]);
  }
  story.sort((a, b) => a.t - b.t);
  const cut = end === null ? story : story.filter((part) => part.t <= end + 1 || finding.kind === "lost");
  if (finding.slot !== null && end !== null) {
    const i = segAt(run, finding.slot, end - 1);
    if (i !== undefined) {
      const torn = finding.kind === "torn" && finding.holds !== null;
      if (torn) cut.push({ t: end, turn: finding.turn, it: link("seg", i), text: `the value read from s${finding.slot} may still hold ${tokens(finding.holds)}, its label says ${finding.label}`, tone: "bad" });
      const holds = torn ? "" : finding.kind === "unwritten" ? "no forward has written it" : finding.holds !== null ? `it ${finding.kind === "aliased" ? "will hold" : "holds"} ${tokens(finding.holds)}` : "";
      if (holds) cut.push({ t: end, turn: finding.turn, it: link("seg", i), text: `s${finding.slot}: ${holds}${finding.label !== null ? `, its label says ${finding.label}` : ""}`, tone: "bad" });
    }
  }
  return cut.slice(-9);
}

function findingHtml(run, index) {
  const finding = run.report.findings[index];
  const story = storyOf(run, finding, index);
  const line = (part) => `<li class="${part.tone ?? ""}"><button type="button" class="go" data-kind="${part.it.kind}" data-i="${part.it.i}"><span class="when">turn ${part.turn}</span> ${html(part.text)}</button></li>`;
  const rows = [["turn", `${finding.turn}, ${finding.phase}`]];
  if (finding.label !== null) rows.push(["label", tokens(finding.label)]);
  if (finding.holds !== null) rows.push(["holds", tokens(finding.holds), "bad"]);
  else if (finding.kind === "unwritten") rows.push(["holds", "nothing", "bad"]);
  if (finding.slot !== null) rows.push(["slot", `s${finding.slot}`]);
  return `<p class="kicker">finding ${index + 1} of ${run.report.findings.length}</p><h2>${html(finding.kind)}${finding.request === null ? "" : `, ${html(finding.request)}`}</h2>` +
    `<p>${html(KIND_MEANS[finding.kind] ?? "")}</p><p class="reason">${html(finding.reason)}</p>${rowsHtml(rows)}` +
    (story.length ? `<h3>How it happened</h3><ol class="story">${story.map(line).join("")}</ol>` : "") +
    (finding.root === null ? "" : `<p><button type="button" class="go" data-finding="${finding.root}">from finding ${finding.root + 1}</button></p>`) +
    replayHtml(finding.replay);
}
