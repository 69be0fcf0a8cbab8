// The head of the page: verdict, counts, choice of rules, findings, warnings.

const FINDINGS_SHOWN = 200;

function drawRules() {
  const runs = PAGE.runs;
  $("rules").hidden = runs.length < 2;
  $("rules").innerHTML = `<legend>rule</legend>` + runs.map(({ report }, i) =>
    `<label class="rule v-${report.verdict}"><input type="radio" name="rule" value="${i}"><span class="sign-v">${VERDICT_SIGN[report.verdict]}</span><span>${html(report.rule)}</span><span class="soft">${report.verdict}</span></label>`).join("");
}

function stat(name, value, sub, tip) {
  return `<div class="stat"${tip ? ` title="${html(tip)}"` : ""}><dt>${name}</dt><dd>${value}</dd>${sub ? `<dd class="sub">${sub}</dd>` : ""}</div>`;
}

function drawHead() {
  const { report, head } = state.run;
  $("verdict").className = `verdict v-${report.verdict}`;
  $("verdict").innerHTML = `<span class="sign-v" aria-hidden="true">${VERDICT_SIGN[report.verdict]}</span> ${report.verdict}`;
  $("means").textContent = VERDICT_MEANS[report.verdict];
  $("scenario").textContent = report.scenario;
  $("way").innerHTML = `under <b>${html(report.rule)}</b>, ${html(head.way)}${PAGE.turns ? `, turns ${PAGE.turns[0]} to ${PAGE.turns[1]} shown` : ""}`;
  $("about").textContent = PAGE.about;
  $("about").hidden = !PAGE.about;
  const of = report.decisions;
  const by = Object.entries(report.lookahead).map(([l, rows]) => `L=${l}: ${number(rows)}`).join(", ");
  const classes = ["agree", "early", "settled", "repeat", "missed", "wrong-label", "wrong-slot"]
    .map((word) => [word, of[word.replace("-", "_")]])
    .map(([word, n]) => `<span class="chip${n ? "" : " zero"}${n && BAD.has(CLASS[word]) ? " bad" : ""}" title="${html(word === "agree" ? "The rule recorded the checkpoint due, or no checkpoint was due and it did not fire." : CLASS_MEANS[word])}">${signSvg(CLASS[word])}${number(n)} ${word}</span>`).join("");
  const points = report.checkpoints;
  const mask = report.mask_reuse;
  const { time: timing } = report;
  const cost = points.cost_tokens ? `, ${counted(points.cost_tokens, "token")} to recompute` : "";
  $("stats").innerHTML =
    stat("decode results", number(report.decode_results), by, "Processed decode rows, by lookahead L") +
    `<div class="stat wide"><dt>decisions</dt><dd class="chips">${classes}</dd></div>` +
    stat("checkpoints", `${number(points.recorded)} of ${number(points.due)} due`, `${points.lost} lost, ${points.skipped} skipped, ${points.donated} donated${cost}`, "Boundary steps whose result was processed, and how many of them the rule recorded") +
    stat("mask reuse", number(mask.reused), `${number(mask.recomputed)} recomputed, ${number(mask.bytes)} bytes`, "Rows answered from a host mask") +
    stat("virtual time", time(timing.makespan_ns), `${counted(report.turns, "turn")}, ${counted(timing.output_tokens, "output")}`, "The whole run, in virtual time");
  const notes = report.warnings.map((text) => `<p class="warning">${html(text)}</p>`);
  if (mask.lost) notes.push(`<p class="warning">mask reuse lost: ${counted(mask.lost, "row")} recomputed because the masks of their batch were dropped</p>`);
  for (const seen of report.observations ?? []) {
    const who = `${seen.requests.slice(0, 5).join(", ")}${seen.requests.length > 5 ? ` and ${seen.requests.length - 5} more` : ""}`;
    notes.push(`<p class="warning">observation: ${html(seen.name)}: ${html(who)} waited in ${counted(seen.turns, "turn")}, first in turn ${number(seen.first_turn)}, although rows, slots and KV were free</p>`);
  }
  $("warnings").innerHTML = notes.join("");
  drawFindings();
  $("replay").innerHTML = replayHtml(head.replay);
  document.title = `${report.verdict}: ${report.scenario} under ${report.rule}`;
}

function drawFindings() {
  const { findings } = state.run.report;
  const one = (finding, i) => `<li><button type="button" class="finding k-${finding.kind}" data-finding="${i}" aria-pressed="${i === state.finding}">
<span class="n">${i + 1}</span><span class="kind">${html(finding.kind)}</span><span class="about">${html(findingWords(finding))}</span><span class="reason">${html(finding.reason)}</span><span class="turn">turn ${finding.turn}, ${html(finding.phase)}</span></button></li>`;
  const more = findings.length > FINDINGS_SHOWN ? `<li class="soft more">and ${number(findings.length - FINDINGS_SHOWN)} more: n and p go through all of them</li>` : "";
  $("findings").innerHTML = findings.slice(0, FINDINGS_SHOWN).map(one).join("") + more;
  $("findings-title").textContent = findings.length ? counted(findings.length, "finding") : "no findings";
}
