// Looks at a finished page as a reader would, and returns everything that is wrong with it.
function () {
  const wrong = [];
  const say = (what, element) => {
    const words = (element && (element.getAttribute('aria-label') || element.textContent) || '');
    wrong.push(what + ': ' + words.trim().slice(0, 80));
  };
  const shown = element => element.checkVisibility({ checkVisibilityCSS: true });

  // Figures: an anchor, a caption, values to read, the numbers behind it, and what is drawn is drawn
  // wide enough, within the window.
  const figures = [...document.querySelectorAll('figure')].filter(shown);
  for (const figure of figures) {
    if (!figure.id) say('a figure without an id', figure);
    if (!figure.querySelector('figcaption h3')) say('a figure without a caption', figure);
    const charts = [...figure.querySelectorAll('svg.ch')].filter(shown);
    for (const chart of charts) {
      if (!chart.getAttribute('aria-label')) say('a chart without a text', figure);
      const box = chart.getBoundingClientRect();
      if (box.width < 280 || box.height < 40) say('an empty chart', figure);
      if (box.right > innerWidth + 1) say('a chart beyond the window', figure);
      if (chart.querySelectorAll('path, circle, rect').length < 3) say('a blank chart', figure);
      const sizes = [...chart.querySelectorAll('text')].map(text => {
        const scale = box.width / chart.viewBox.baseVal.width;
        return parseFloat(getComputedStyle(text).fontSize) * scale;
      });
      // Letters stay within the chart, and no two words cover each other.
      const written = [...chart.querySelectorAll('text')].filter(shown).map(text =>
        ({ text, box: text.getBoundingClientRect() })).filter(one => one.box.width > 0);
      for (const [place, one] of written.entries()) {
        if (one.box.left < box.left - 2 || one.box.right > box.right + 2) {
          say('letters beyond a chart of ' + figure.id, one.text);
        }
        for (const other of written.slice(place + 1)) {
          const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
          const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
          if (across > 3 && down > 5) {
            say('overprinted in ' + figure.id + ': ' + one.text.textContent + ' and', other.text);
          }
        }
      }
      if (Math.min(...sizes) < 9.5) say('letters of ' + Math.min(...sizes) + ' px', figure);
    }
    // The values of marks are reached by keyboard: one table for each chart with marks to point at.
    for (const chart of charts.filter(chart => chart.querySelector('.pt'))) {
      if (!chart.parentElement.querySelector('.vals table')) say('a chart without a table', figure);
    }
    const rows = [...figure.querySelectorAll('ol.bars li, ol.rows li, .half rect')].filter(shown);
    if (charts.length + rows.length === 0) say('a figure without a chart', figure);
    if (figure.querySelectorAll('svg title').length === 0) say('a figure without values', figure);
  }
  if (document.documentElement.scrollWidth > innerWidth) {
    const clipped = element => {
      for (let above = element.parentElement; above && above !== document.body; above = above.parentElement) {
        if (getComputedStyle(above).overflowX !== 'visible') return true;
      }
      return false;
    };
    const beyond = [...document.body.querySelectorAll('*')].filter(element =>
      shown(element) && element.getBoundingClientRect().right > innerWidth + 1 && !clipped(element));
    const names = beyond.slice(0, 4).map(element => element.tagName + '.' + element.getAttribute('class'));
    say('the page is ' + document.documentElement.scrollWidth + ' wide by ' + names.join(', '), beyond[0]);
  }

  // On a phone no table scrolls sideways, and none hides a value that a wide window shows.
  if (innerWidth < 500) {
    for (const box of [...document.querySelectorAll('.scroll')].filter(shown)) {
      if (box.scrollWidth > box.clientWidth + 1) {
        say('a table of ' + box.scrollWidth + ' px on a phone, ' + box.getAttribute('aria-label'), box);
      }
      for (const cell of box.querySelectorAll('td')) {
        if (!shown(cell) && !['', '–'].includes(cell.textContent.trim())) say('a hidden cell', cell);
        const name = getComputedStyle(cell, '::before').content;
        if (cell.matches('.stack td.n:not([colspan])') && shown(cell) && name.length < 3) say('a cell without the name of its column', cell);
      }
    }
  }

  // Controls of the bar do not cover each other; what the row of drives scrolls away is not seen.
  const row = document.querySelector('.chips');
  const clip = row && getComputedStyle(row).overflowX !== 'visible' ? row.getBoundingClientRect().right : Infinity;
  const controls = [...document.querySelectorAll('.bar .chip, .bar select, .bar input[type=reset]')];
  const places = controls.filter(shown).map(control => {
    const box = control.getBoundingClientRect();
    const right = control.matches('.chip') ? Math.min(box.right, clip) : box.right;
    return { control, left: box.left, right, top: box.top, bottom: box.bottom };
  });
  for (const [number, one] of places.entries()) {
    for (const other of places.slice(number + 1)) {
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 1 && down > 1) say('a control of the bar covers another', other.control);
    }
  }

  // Contrast, by WCAG 2.2: 4.5 for text, 3 for large text and for what is drawn.
  const channels = colour => {
    const parts = colour.match(/[\d.]+/g);
    return parts && colour.startsWith('rgb') ? parts.map(Number) : null;
  };
  const luminance = rgb => {
    const [r, g, b] = rgb.map(value => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (top, below) => {
    const alpha = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map(i => top[i] * alpha + below[i] * (1 - alpha));
  };
  const ground = element => {
    const above = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour) above.push(colour);
    }
    return above.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const ratio = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !shown(parent)) continue;
    const style = getComputedStyle(parent);
    const ink = parent.closest('svg') ? channels(style.fill) : channels(style.color);
    if (!ink) continue;
    texts += 1;
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const behind = ground(parent);
    const contrast = ratio(over(ink, behind), behind);
    if (contrast < (large ? 3 : 4.5)) say('contrast ' + contrast.toFixed(2), parent);
  }
  if (texts < 50) say('only ' + texts + ' texts');
  // Gold and sky reach 2.5 on white; marks carry a shape beside their colour, and names are text.
  for (const drawn of document.querySelectorAll('.ln:not(.thin), .br:not(.beh), .mk:not(.ho)')) {
    if (!shown(drawn)) continue;
    const style = getComputedStyle(drawn);
    // Grey is the colour of the drives that stand back behind others.
    if (style.getPropertyValue('--c').trim() === style.getPropertyValue('--mute').trim()) continue;
    const ink = channels(drawn.matches('.ln') ? style.stroke : style.fill);
    const behind = ground(drawn.closest('figure') || document.body);
    const contrast = ratio(over(ink, behind), behind);
    if (contrast < 2.4) say('a line of contrast ' + contrast.toFixed(2), drawn.closest('figure'));
  }

  // Structure: a language, a title, one first heading, no level left out, links that lead somewhere.
  if (!document.documentElement.lang) say('no language');
  if (!document.title) say('no title');
  if (document.querySelectorAll('h1').length !== 1) say('not one first heading');
  let level = 0;
  for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) say('a level of headings left out', heading);
    level = next;
  }
  const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
  if (new Set(ids).size !== ids.length) say('an id stands twice');
  for (const link of document.querySelectorAll('a[href]')) {
    const target = link.getAttribute('href');
    // The words of an editor may lead elsewhere.
    if (link.closest('.words') && target.startsWith('https://')) continue;
    // A file to download is in its link, and has to be one that another program reads.
    if (link.hasAttribute('download') && target.startsWith('data:image/svg+xml;charset=utf-8,')) {
      const file = decodeURIComponent(target.slice(target.indexOf(',') + 1));
      const root = new DOMParser().parseFromString(file, 'image/svg+xml').documentElement;
      if (root.localName !== 'svg') say('a download that is no SVG', link);
      continue;
    }
    if (!target.startsWith('#') || !document.getElementById(target.slice(1))) {
      say('a link to nowhere', link);
    }
  }
  for (const table of document.querySelectorAll('table:has(thead)')) {
    const heads = [...table.querySelectorAll('thead th')].map(head => head.textContent.trim());
    if (new Set(heads).size !== heads.length) say('two columns of one name', table);
  }
  for (const head of document.querySelectorAll('th')) {
    if (!head.scope) say('a head of a table without scope', head);
  }
  return { wrong: [...new Set(wrong)].slice(0, 30), figures: figures.length };
}
