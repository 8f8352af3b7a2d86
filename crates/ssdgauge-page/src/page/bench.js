/* ssdgauge-site: chooses, sorts and stacks what the program drew and judged. */
"use strict";
const MOST = 6, SHAPES = [
  "M6.5 1a5.5 5.5 0 1 0 .01 0z", "M1.5 1.5h10v10h-10z", "M6.5 0L13 6.5 6.5 13 0 6.5z",
  "M6.5 12.5L12.5 2H.5z", "M6.5.5L12.5 11H.5z", "M4.5 0h4v4.5H13v4H8.5V13h-4V8.5H0v-4h4.5z"];
const $ = id => document.getElementById(id);
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter(child => child != null && child !== ""));
  return element;
};
const mark = k => {
  const box = make("span", { className: "mk" });
  box.innerHTML = `<svg class="i k${k}" viewBox="0 0 13 13" aria-hidden="true"><path d="${SHAPES[k]}" fill="var(--c)"/></svg>`;
  return box.firstChild;
};
const state = () => new URLSearchParams(location.hash.slice(1));
const chosenOf = (parameters, key) => (parameters.get(key) || "").split(",").filter(Boolean).slice(0, MOST);
/* A choice is a step of the history; typing replaces the last one. */
const go = (parameters, replaces) => {
  for (const [key, value] of [...parameters]) if (!value) parameters.delete(key);
  const hash = "#" + decodeURIComponent(parameters.toString()).replace(/ /g, "+");
  if (hash === (location.hash || "#")) return;
  history[replaces ? "replaceState" : "pushState"](null, "", hash);
  show();
};
let show = () => {};

/* Tables of drives */
function table() {
  const rows = [...$("drives").tBodies[0].rows], heads = [...$("drives").tHead.rows[0].cells];
  const up = document.querySelector("nav a").getAttribute("href").replace("index.html", "");
  const names = new Map(rows.map(row => [row.querySelector(".pick").value, row.querySelector("th a").textContent]));
  heads.forEach((head, column) => {
    const sort = head.querySelector(".sort");
    if (!sort) return;
    sort.replaceChildren(make("button", { type: "button", textContent: sort.textContent, onclick: () => {
      const parameters = state();
      parameters.set("sort", column);
      go(parameters);
    } }));
    for (const row of rows) row.cells[column].dataset.h = sort.textContent;
  });
  const selects = [...document.querySelectorAll("#filters select")];
  $("q").hidden = $("ticks").hidden = false;
  if ($("filters")) $("filters").hidden = false;
  $("q").oninput = () => { const p = state(); p.set("q", $("q").value); go(p, true); };
  for (const select of selects) {
    const apply = () => {
      const p = state(), value = select.value.split("=").slice(1).join("=");
      if (value === (p.get(select.name) || "")) return;
      p.set(select.name, value);
      /* Who asks for virtual or imported drives wants to see them. */
      if (select.name === "Data" && box && value && value !== "measured") p.set("marked", boxAtStart ? "" : "1");
      go(p);
    };
    /* A key that moves in a closed list changes it at every step: that is applied by Enter, or on leaving. What a key opens,
       or a pointer, changes once; so does every list of a Mac. */
    let moves = false;
    select.onkeydown = event => {
      moves = !event.altKey && ![" ", "F4", "Enter"].includes(event.key) && !/^Mac/.test(navigator.platform);
      if (event.key === "Enter") apply();
    };
    select.onpointerdown = () => { moves = false; };
    select.onchange = () => { if (!moves) apply(); };
    select.onblur = () => { moves = false; apply(); };
  }
  const box = $("marked"), boxAtStart = box && box.checked;
  if (box) box.onchange = () => { const p = state(); p.set("marked", box.checked === boxAtStart ? "" : box.checked ? "1" : "0"); go(p); };
  if ($("reset")) $("reset").onclick = () => { const p = new URLSearchParams(); p.set("sel", state().get("sel") || ""); go(p); };
  $("drives").onchange = event => {
    if (!event.target.matches(".pick")) return;
    const p = state(), own = event.target.value, all = chosenOf(p, "sel");
    const next = event.target.checked ? [...all, own] : all.filter(one => one !== own);
    if (next.length > MOST) { event.target.checked = false; return; }
    p.set("sel", next.join(","));
    go(p);
    /* The next name is typed over this one, and the rows next to the box stay above the tray. */
    ticked = event.target.checked;
    const below = event.target.getBoundingClientRect().bottom + 80 - $("tray").getBoundingClientRect().top;
    if (ticked && below > 0) scrollBy(0, below);
  };
  /* Who has ticked a drive types the name of the next one. */
  $("drives").onkeydown = event => {
    if (!event.target.matches(".pick") || event.key.length > 1 || event.key === " " || event.ctrlKey || event.altKey || event.metaKey) return;
    $("q").value = "";
    $("q").focus();
  };
  let ticked = false;
  $("q").onclick = () => { if (ticked) $("q").select(); ticked = false; };
  /* What the chosen drives mean for a database, once their numbers are loaded. */
  let turn = 0;
  const answer = async (chosen, tray) => {
    const own = ++turn, place = make("p", { role: "status" });
    tray.append(place);
    const judged = await judge(chosen, up);
    if (own === turn && judged) place.append(...forDatabase(judged));
  };
  show = () => {
    const p = state(), chosen = chosenOf(p, "sel");
    /* A comma separates names of which a row has one. */
    const sought = (p.get("q") || "").toLowerCase().split(",").map(name => name.split(/\s+/).filter(Boolean)).filter(words => words.length);
    if ($("q") !== document.activeElement) $("q").value = p.get("q") || "";
    if (box) box.checked = p.has("marked") ? p.get("marked") === "1" : boxAtStart;
    for (const select of selects) select.value = p.get(select.name) ? select.name + "=" + p.get(select.name) : "";
    const wanted = selects.map(select => select.value).filter(Boolean);
    let count = 0, kept = 0;
    for (const row of rows) {
      const text = row.cells[1].textContent.toLowerCase(), own = (row.dataset.f || "").split("|");
      const place = chosen.indexOf(row.querySelector(".pick").value);
      /* What is chosen stays in sight. */
      const found = (!sought.length || sought.some(words => words.every(word => text.includes(word)))) && wanted.every(one => own.includes(one));
      row.hidden = place < 0 && !found;
      row.className = row.className.replace(/ ?\b(on|k\d)\b/g, "") + (place < 0 ? "" : " on k" + place);
      row.querySelector(".pick").checked = place >= 0;
      row.querySelector(".pick").disabled = place < 0 && chosen.length >= MOST;
      if (!row.hidden && !(row.classList.contains("marked") && box && !box.checked)) found ? count++ : kept++;
    }
    $("count").textContent = `${count} of ${counted(rows.length, "drive")}` + (kept ? `, and ${kept} ticked` : "");
    const column = +p.get("sort"), sorted = column || heads.findIndex(head => head.querySelector(".sort"));
    heads.forEach((head, place) => place === sorted ? head.setAttribute("aria-sort", "descending") : head.removeAttribute("aria-sort"));
    const value = row => { const text = row.cells[column].dataset.v; return text ? +text : -Infinity; };
    const focus = document.activeElement;
    const shown = row => row.cells[column].firstElementChild?.textContent;
    const order = (a, b) => shown(a) === shown(b) ? a.dataset.n - b.dataset.n : value(b) - value(a);
    const ordered = column ? [...rows].sort(order) : rows, body = $("drives").tBodies[0];
    /* Moved rows lose the place to which the window is scrolled. */
    if (ordered.some((row, place) => row !== body.rows[place])) body.append(...ordered);
    if (focus && focus !== document.activeElement) focus.focus({ preventScroll: true });
    const tray = $("tray");
    tray.hidden = !chosen.length;
    tray.replaceChildren(make("div", { className: "chips" }, ...chosen.map((one, place) => make("span", {}, mark(place), " " + (names.get(one) || one) + " ", make("button", { type: "button", textContent: "×", onclick: () => {
      const q = state();
      q.set("sel", chosen.filter(other => other !== one).join(","));
      go(q);
    } })))));
    tray.querySelectorAll("button").forEach((button, place) => button.setAttribute("aria-label", "Remove " + (names.get(chosen[place]) || chosen[place])));
    $("ticks").hidden = chosen.length > 1;
    if (chosen.length === 1) tray.append(make("span", { textContent: "Tick another drive, or type its name" }));
    if (chosen.length > 1) answer(chosen, tray);
    if (chosen.length > 1) tray.append(make("a", { href: up + "compare.html#d=" + chosen.join(",") }, "Compare", make("span", {}, ` ${chosen.length} drives (up to ${MOST})`)));
  };
}

/* The comparison */
const bench = { loading: new Map(), tests: new Map(), drives: new Map(),
  site(data) { bench.all = data; },
  test(data) { bench.tests.set(data.s, data); },
  drive(data) { bench.drives.set(data.s, data.tests); } };
const load = (file, up = "") => {
  if (!bench.loading.has(file)) bench.loading.set(file, new Promise(done => {
    const script = make("script", { src: up + "data/" + file + ".js", onload: done, onerror: done });
    document.head.append(script);
  }));
  return bench.loading.get(file);
};
/* The verdict on two drives of a test, from the packed table. */
function verdict(test, first, second) {
  const n = test.order.length, x = test.order.indexOf(first), y = test.order.indexOf(second);
  const [a, b] = x < y ? [x, y] : [y, x];
  const at = 3 * (a * (2 * n - a - 1) / 2 + b - a - 1);
  const { first: letter, highest, fine } = bench.all;
  const steps = place => test.pairs.charCodeAt(at + place) - letter;
  const ratio = level => Math.exp(Math.sinh(level / fine));
  const level = steps(1) - highest;
  return { kind: test.pairs[at], a: test.order[a], b: test.order[b], low: ratio(level), high: ratio(level + steps(2)) };
}
/* The drive that a verdict finds ahead. */
const leader = pair => pair.kind === ">" ? pair.a : pair.kind === "<" ? pair.b : null;
/* A change in percent with the digits that `compare` prints. */
const percent = ratio => {
  const change = 100 * (ratio - 1), text = change.toFixed(Math.abs(change) < 99.95 ? 1 : 0);
  return /^-?0\.0$/.test(text) ? "0.0" : text.replace("-", "\u2212");
};
const times = ratio => ratio.toFixed(ratio < 9.95 ? 1 : 0);
/* The place of a ratio on the axis of intervals: logarithmic to ten times. */
const place = ratio => Math.min(100, Math.max(0, 50 + 50 * Math.log10(ratio)));
/* The words of a verdict; `why` tells why a drive has no interval. */
function words(facts, pair, name, why) {
  const lead = (ahead, other, from, to) => {
    const digits = from >= 2 ? times : percent;
    const range = [...new Set([digits(from), digits(to)])].join(" to ");
    const parts = facts.words[from >= 2 ? 1 : 0].split(/\b([ABR])\b/);
    return parts.map(part => part === "A" ? make("b", {}, name(ahead)) : part === "B" ? name(other) : part === "R" ? range : part);
  };
  if (pair.kind === ">") return lead(pair.a, pair.b, pair.low, pair.high);
  if (pair.kind === "<") return lead(pair.b, pair.a, 1 / pair.high, 1 / pair.low);
  if (pair.kind === "x") return ["Not comparable"];
  if (pair.kind === "o") {
    const lacking = [pair.a, pair.b].find(why);
    return ["Not decided: no interval" + (lacking ? ` (${name(lacking)}: ${why(lacking).replace("no 95 % interval: ", "")})` : "")];
  }
  const both = ` (${name(pair.a)} by ${percent(pair.low)} to ${percent(pair.high)}%)`;
  return [(pair.kind === "=" ? "Level" : "Too close to call") + both];
}
/* What a verdict says of noise: repeating a run moves a result by up to 3 %. */
const noise = pair => leader(pair) ? ": more than noise" : pair.kind === "=" ? ": no more than noise" : pair.kind === "?" ? ": it may be noise" : "";
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
/* The verdicts of a test on the best of these drives and each other one. */
function ranked(data, drives, why) {
  const present = data.order.filter(slug => drives.includes(slug));
  present.sort((a, b) => !!why(a) - !!why(b));
  /* The best is the first in the order with an interval, unless a later one, whose run has marks, is ahead of it. */
  const best = present.reduce((best, one) => leader(verdict(data, best, one)) === one ? one : best);
  const found = present.filter(one => one !== best).map(other => verdict(data, best, other));
  return { present, best, found, leads: found.every(pair => leader(pair) === best) ? best : null };
}
/* The tests that at least two of the chosen drives have, each with its verdicts. */
async function judge(chosen, up) {
  if (!bench.all) await load("site", up);
  if (!bench.all) return null;
  await Promise.all(chosen.map(one => load("drive-" + one, up)));
  const facts = new Map(bench.all.drives.map(drive => [drive.s, drive])), name = slug => facts.get(slug).n;
  const of = (test, slug) => (bench.drives.get(slug) || {})[test.s];
  const having = bench.all.tests.map(test => [test, chosen.filter(one => of(test, one))]);
  const common = having.filter(([, slugs]) => chosen.length > 1 && slugs.length > 1).map(([test]) => test);
  await Promise.all(common.map(test => load("test-" + test.s, up)));
  const tests = common.map(test => {
    const data = bench.tests.get(test.s), why = slug => of(test, slug).why;
    return { test, data, why, ...ranked(data, chosen, why) };
  });
  return { chosen, name, of, having, tests };
}
/* Which drive is best for a database: by the first column that decides, and among drives that are level there by the next one. */
function forDatabase({ chosen, tests, name }) {
  const columns = bench.all.database.map(use => tests.find(one => one.test.use === use)).filter(Boolean);
  if (!columns.length) return [];
  const title = one => one.test.use.split(": ").pop().toLowerCase();
  const bold = slugs => make("b", {}, slugs.map(name).join(" or "));
  const said = [];
  let left = chosen, decided = null, rest = columns;
  while (rest.length) {
    const [one, ...next] = rest, among = { ...one, ...ranked(one.data, left, one.why) };
    const { present, best, found, leads } = among;
    const lacking = said.length ? "" : left.filter(slug => !present.includes(slug)).map(name).join(" and ");
    const unmeasured = lacking ? `; ${lacking} not measured` : "";
    if (leads) {
      said.push(`${title(one)}: `, ...found.flatMap((pair, place) => [place ? "; " : "", ...words(one.test, pair, name, one.why)]), unmeasured);
      [decided, rest] = [best, next];
      break;
    }
    const open = found.filter(pair => !leader(pair)), kinds = new Set(open.map(pair => pair.kind));
    const isUnknown = kinds.has("o") || kinds.has("x");
    const behind = found.filter(pair => leader(pair) === best).map(pair => name(pair.a === best ? pair.b : pair.a));
    said.push(`${title(one)}: ` + (isUnknown ? "not decided, without an interval" : kinds.has("?") ? "too close to call, it may be noise" : "level, no more than noise")
      + (behind.length ? `; ${behind.join(" and ")} behind by more than noise` : "") + unmeasured);
    left = left.filter(slug => slug === best || open.some(pair => [pair.a, pair.b].includes(slug)));
    /* What is unknown is not level. */
    rest = isUnknown ? [] : next.filter(other => left.every(slug => other.present.includes(slug)));
    if (rest.length) said.push("; ");
  }
  if (!decided) return ["For a database: ", bold(left), " (", ...said, ")."];
  /* What the columns say that did not decide. */
  const uses = new Map();
  for (const one of rest) {
    const { found, leads } = ranked(one.data, one.present, one.why);
    const says = leads ? name(leads) + (leads === decided ? " also" : "") + " leads in" : found.some(pair => "=?".includes(pair.kind)) ? "too close to call:" : "not decided:";
    uses.set(says, [...(uses.get(says) || []), title(one)]);
  }
  const more = [...uses].map(([says, own]) => `; ${says} ${own.join(" and ")}`).join("");
  return ["For a database: ", bold([decided]), ", by more than noise (", ...said, ")", more + "."];
}
function comparison() {
  const facts = new Map(bench.all.drives.map(drive => [drive.s, drive]));
  const byName = new Map(bench.all.drives.map(drive => [drive.n, drive.s]));
  const name = slug => facts.get(slug).n;
  const set = next => { const p = state(); p.set("d", next.join(",")); go(p); };
  /* The drive of a name, or of words that only its name has; else why there is none. */
  const search = text => {
    /* Lists have spaces at which no line breaks. */
    const wanted = text.replace(/\u00a0/g, " ").trim(), low = wanted.toLowerCase(), parts = low.split(/\s+/);
    const all = bench.all.drives, end = all.filter(drive => drive.n.toLowerCase().endsWith(" " + low));
    const like = all.filter(drive => parts.every(part => drive.n.toLowerCase().includes(part)));
    const one = [end, like].find(found => found.length === 1);
    if (byName.has(wanted) || one) return [byName.get(wanted) || one[0].s];
    return [null, like.length ? `${like.length} drives have this in their names` : "no drive has this name"];
  };
  const picker = (chosen, place) => {
    const own = chosen[place];
    const input = make("input", { value: own ? name(own) : "", placeholder: "Add a drive…", id: "d" + place, title: own ? name(own) : "" });
    input.setAttribute("list", "all");
    input.setAttribute("aria-label", own ? `Drive ${place + 1}` : "Add a drive");
    input.oninput = () => input.setCustomValidity("");
    input.onchange = () => {
      const [found, problem] = search(input.value);
      const next = chosen.slice();
      if (found && !chosen.includes(found)) { next[place] = found; set(next); } else if (own && !input.value.trim()) input.value = name(own);
      else if (input.value.trim()) { input.setCustomValidity(found ? "this drive is chosen already" : problem); input.reportValidity(); }
    };
    const remove = own && make("button", { type: "button", textContent: "×", onclick: () => set(chosen.filter(one => one !== own)) });
    if (remove) remove.setAttribute("aria-label", "Remove " + name(own));
    return make("div", {}, make("div", { className: "w" }, own && mark(place), input, remove), own && make("small", {}, facts.get(own).f));
  };
  const value = (slug, k, one) => make("div", { className: "who" }, mark(k),
    make("span", {}, make("b", {}, one.v), make("small", {}, `${one.why ? "" : `95%: ${one.i}; `}${one.rank}; ${one.run}`)));
  let turn = 0;
  show = async () => {
    const own = ++turn, asked = (state().get("d") || "").split(",").filter(Boolean);
    const chosen = asked.filter(one => facts.has(one)).slice(0, MOST), unknown = asked.filter(one => !facts.has(one));
    const focus = document.activeElement && document.activeElement.id;
    $("chosen").replaceChildren(...chosen.map((_, place) => picker(chosen, place)), ...(chosen.length < MOST ? [picker(chosen, chosen.length)] : []));
    if (focus && focus !== document.activeElement.id && $(focus)) $(focus).focus();
    $("title").textContent = chosen.length ? chosen.map(name).join(" or ") + (chosen.length > 1 ? "?" : "") : "Compare drives";
    document.title = $("title").textContent;
    const judged = await judge(chosen, "");
    if (own !== turn) return;
    const { of, having, tests } = judged, common = tests.map(one => one.test);
    const counts = { close: [], open: [] }, slot = slug => chosen.indexOf(slug), answers = new Map();
    const pairs = tests.map(({ test, data, present, why, best, found, leads }) => {
      if (test.use && !answers.has(test.use)) {
        if (leads) (counts[leads] = counts[leads] || []).push(test); else (found.some(pair => "=?".includes(pair.kind)) ? counts.close : counts.open).push(test);
        answers.set(test.use, make("div", { className: "ans" },
          make("div", {}, make("h3", {}, test.use), make("small", {}, test.t)),
          make("div", {}, ...present.map(slug => make("div", {}, mark(slot(slug)), make("b", {}, " " + of(test, slug).v), make("small", {}, of(test, slug).why ? " no interval" : ` 95%: ${of(test, slug).i}`)))),
          make("div", {}, ...found.map(pair => make("p", leader(pair) ? {} : { className: "close" }, ...words(test, pair, name, why), noise(pair))))));
      }
      const strip = make("div", {});
      strip.innerHTML = `<svg viewBox="0 0 100 14" preserveAspectRatio="none" height="14" aria-hidden="true"><path class="ticks" d="${data.ticks}"/></svg><div class="axis"><small></small><small></small></div>`;
      strip.querySelectorAll("small").forEach((small, end) => { small.textContent = data.ends[end] || ""; });
      for (const slug of present) {
        const sign = mark(slot(slug));
        sign.setAttribute("style", `position:absolute;left:calc(${of(test, slug).x}% - 6px);top:0`);
        strip.prepend(sign);
      }
      strip.style.position = "relative";
      const bars = found.map(pair => {
        const row = make("div", { className: "iv" });
        if (pair.kind === "x" || pair.kind === "o") return row;
        const ahead = leader(pair);
        /* Of two drives the first has the left side, of more the best. */
        const isRight = pair.a !== (chosen.length === 2 ? chosen[0] : best);
        const [from, to] = [pair.high, pair.low].map(ratio => isRight ? place(ratio) : 100 - place(ratio)).sort((x, y) => x - y);
        const bar = make("i", { className: ahead ? "k" + slot(ahead) : "" });
        bar.setAttribute("style", `left:${from}%;width:${to - from}%`);
        row.append(bar);
        if (bar.className) {
          const sign = mark(slot(ahead));
          sign.style.left = `calc(${(from + to) / 2}% - 6px)`;
          row.append(sign);
        }
        return row;
      });
      const said = found.map(pair => make("div", { className: "v" + (leader(pair) ? "" : " close") }, make("span", {}, ...words(test, pair, name, why))));
      const lines = found.map((_, place) => [bars[place], said[place]]);
      return make("div", { className: "pair" },
        make("div", {}, make("h3", {}, test.t), make("small", {}, [test.r, test.m, test.set, ...test.marks.filter(one => one !== "MODEL")].filter(Boolean).join(" · "))),
        strip, make("div", {}, ...chosen.filter(slug => of(test, slug)).map(slug => value(slug, slot(slug), of(test, slug)))),
        make("div", {}, ...lines.map(line => line[0])), make("div", { className: "words" }, ...lines.map(line => line[1])));
    });
    const axis = make("div", { className: "axis-of" });
    axis.innerHTML = '<div class="axis"><span>10×</span><span>3.2×</span><span>=</span><span>3.2×</span><span>10×</span></div><div class="axis"><b></b><b></b></div>';
    const sides = chosen.length === 2 ? chosen.map(name) : ["best drive", "other one"];
    axis.querySelectorAll("b").forEach((side, end) => { side.textContent = end ? sides[1] + " ▸" : "◂ " + sides[0]; });
    const head = make("div", { className: "pair head" }, make("div", {}, "Test"), make("div", {}, "All drives; right is better"), make("div", {}, "Result, 95% interval, run"), axis, make("div", {}, "Verdict"));
    $("pairs").replaceChildren(...(pairs.length ? [head, ...pairs] : []));
    const lone = bench.all.uses.filter(use => !answers.has(use));
    $("answers").replaceChildren(...bench.all.uses.filter(use => answers.has(use)).map(use => answers.get(use)),
      ...(answers.size && lone.length ? [make("p", { className: "small" }, `Not measured alike on ${chosen.length === 2 ? "both" : "any two"}: ${lone.join("; ")}.`)] : []));
    const titles = tests => tests.map(test => test.use.replace(": ", " (") + (test.use.includes(": ") ? ")" : "")).join(", ");
    const sentence = !chosen.some(slug => counts[slug]) ? "No drive leads by more than noise" : chosen.map(slug => `${name(slug)} leads ${counts[slug] ? "by more than noise in " + titles(counts[slug]) : "in no use"}`).join("; ");
    const missing = unknown.length ? "Not on this site: " + unknown.join(", ") + ". " : "";
    $("answer").replaceChildren(missing, ...(chosen.length < 2 ? ["Choose two to six drives."] : !common.length ? ["These drives have no test in common."]
      : [make("span", { className: "block" }, ...forDatabase(judged), " "), sentence + (counts.close.length ? "; too close to call or level: " + titles(counts.close) : "")
        + (counts.open.length ? "; not decided, without an interval: " + titles(counts.open) : "") + "."]));
    $("status").textContent = missing + `${counted(chosen.length, "drive")}, ${counted(common.length, "test")} in common`;
    const apart = having.filter(([test, slugs]) => slugs.length && !common.some(one => one.id === test.id));
    $("apart").replaceChildren(...(chosen.length > 1 && apart.length ? [make("details", { className: "fold", open: !common.length }, make("summary", {}, `${counted(apart.length, "result")} not comparable`),
      make("ul", {}, ...apart.map(([test, slugs]) => make("li", {}, `${test.t}: only ${slugs.map(name).join(", ")} (${test.set})`))))] : []));
    $("charts").replaceChildren(...common.filter(test => bench.tests.get(test.s).frame).map(test => {
      const picture = make("div", {}), id = slug => "m" + slot(slug);
      const lines = chosen.filter(slug => of(test, slug) && of(test, slug).d).map(slug => {
        const [line, dots] = of(test, slug).d.split("|"), url = `url(#${test.s}-${id(slug)})`;
        return `<marker id="${test.s}-${id(slug)}" viewBox="0 0 13 13" refX="6.5" refY="6.5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" class="k${slot(slug)}"><path d="${SHAPES[slot(slug)]}" fill="var(--c)"/></marker><g class="k${slot(slug)}"><path class="line" d="${line}"/><path class="dots" d="${dots}" marker-start="${url}" marker-mid="${url}" marker-end="${url}"/></g>`;
      });
      picture.innerHTML = bench.tests.get(test.s).frame + lines.join("") + "</svg>";
      const values = chosen.filter(slug => of(test, slug)).map(slug => make("span", {}, mark(slot(slug)), " " + of(test, slug).v));
      return make("figure", {}, make("h3", {}, test.t), make("div", { className: "vals" }, ...values), picture);
    }));
    for (const part of document.querySelectorAll("main section")) part.hidden = ![...part.querySelectorAll("div")].some(one => one.children.length);
  };
}

document.addEventListener("DOMContentLoaded", () => {
  if ($("drives")) table();
  if ($("chosen")) comparison();
  addEventListener("popstate", () => show());
  addEventListener("hashchange", () => show());
  show();
});
