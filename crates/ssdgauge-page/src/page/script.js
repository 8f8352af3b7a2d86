(() => {
  'use strict';
  const make = (name, attributes, parent) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    parent.append(element);
    return element;
  };

  // The answer is sorted by a press on a head; the third press on it gives the order of the page.
  for (const table of document.querySelectorAll('table.ans')) {
    const rows = [...table.tBodies[0].rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'sort';
      button.append(...head.childNodes);
      head.append(button);
      const key = row => row.cells[column].dataset.v;
      const words = row => row.cells[column].textContent;
      const numeric = rows.some(row => key(row) !== undefined);
      const first = numeric && !('less' in head.dataset) ? 'descending' : 'ascending';
      const order = { [first]: first === 'ascending' ? 'descending' : 'ascending' };
      button.addEventListener('click', () => {
        const was = head.getAttribute('aria-sort');
        const next = was ? order[was] : first;
        heads.forEach(other => other.removeAttribute('aria-sort'));
        if (next) head.setAttribute('aria-sort', next);
        const sign = next === 'descending' ? -1 : 1;
        const compare = (a, b) => {
          if (!numeric) return sign * words(a).localeCompare(words(b));
          // Rows without a value are the last ones in both directions.
          const [x, y] = [key(a), key(b)];
          if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
          return sign * (x - y);
        };
        table.tBodies[0].append(...(next ? [...rows].sort(compare) : rows));
      });
    });
  }

  // Tabs, filter and highlight are in the address, so that a link shows what its sender saw.
  const controls = [...document.querySelectorAll('.tabs input, .bar form :is([type=checkbox], select)')];
  const name = control => control.name || control.id;
  const isRadio = control => control.type === 'radio';
  const state = control => control.type === 'checkbox' ? (control.checked ? '' : 'off') : control.value;
  const usual = new Map();
  for (const control of controls) {
    if (!isRadio(control) || control.checked) usual.set(name(control), state(control));
  }
  const asked = new URLSearchParams(location.search);
  for (const control of controls) {
    const value = asked.get(name(control));
    if (value === null) continue;
    if (isRadio(control)) control.checked = control.checked || control.value === value;
    else if (control.type === 'checkbox') control.checked = value !== 'off';
    else if ([...control.options].some(option => option.value === value)) control.value = value;
  }
  const remember = () => {
    const query = new URLSearchParams(location.search);
    for (const control of controls) {
      if (isRadio(control) && !control.checked) continue;
      const value = state(control);
      if (value === usual.get(name(control))) query.delete(name(control));
      else query.set(name(control), value);
    }
    const text = query.toString();
    try {
      history.replaceState(null, '', location.pathname + (text && `?${text}`) + location.hash);
    } catch { /* A browser that keeps the address of a file as it is. */ }
  };
  document.addEventListener('change', remember);
  // A form has its values only after the event of its reset.
  document.addEventListener('reset', () => setTimeout(remember));

  // A chart over time is enlarged where the pointer is dragged over it.
  const FIRST = 0.56;
  document.querySelectorAll('svg[data-zoom]').forEach((chart, number) => {
    const [left, right, top, bottom, end, cut] = chart.dataset.zoom.split(' ').map(Number);
    const original = chart.innerHTML;
    const width = right - left;
    const value = x => {
      const share = (x - left) / width;
      if (!cut) return share * end;
      return share <= FIRST ? share / FIRST * cut
        : cut + (share - FIRST) / (1 - FIRST) * (end - cut);
    };
    const place = v => left + width * (!cut ? v / end
      : v <= cut ? FIRST * v / cut : FIRST + (1 - FIRST) * (v - cut) / (end - cut));
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'whole';
    button.textContent = 'Show the whole width';
    button.hidden = true;
    chart.before(button);
    // What is shown, in the coordinates of the whole chart.
    let shown = [left, right];

    const ticks = (from, to, put) => {
      const [low, high] = [value(from), value(to)];
      const rough = (high - low) / 6;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough);
      const digits = Math.max(0, -Math.floor(Math.log10(step)));
      for (let n = Math.ceil(low / step); n * step <= high * (1 + 1e-9); n += 1) {
        const x = put(place(n * step));
        make('path', { class: 'ax', d: `M${x} ${bottom}v4` }, chart);
        const text = make('text', { class: 'tk', x, y: bottom + 17, 'text-anchor': 'middle' }, chart);
        text.textContent = (n * step).toLocaleString('en-US',
          { minimumFractionDigits: digits, maximumFractionDigits: digits });
      }
    };

    const draw = (from, to) => {
      shown = [from, to];
      chart.innerHTML = original;
      const whole = from <= left && to >= right;
      button.hidden = whole;
      chart.classList.toggle('zoomed', !whole);
      if (whole) return;
      const scale = width / (to - from);
      const put = x => left + (x - from) * scale;
      const clip = make('clipPath', { id: `zoom-${number}` }, chart);
      make('rect', { x: left, y: 0, width, height: bottom }, clip);
      const enlarge = element => {
        const frame = document.createElementNS('http://www.w3.org/2000/svg', 'g');
        frame.setAttribute('clip-path', `url(#zoom-${number})`);
        element.replaceWith(frame);
        frame.append(element);
        element.setAttribute('transform', `translate(${left - from * scale} 0) scale(${scale} 1)`);
        element.setAttribute('vector-effect', 'non-scaling-stroke');
      };
      const move = (element, x) => {
        const to = put(x);
        if (to < left || to > right) element.remove();
        else element.setAttribute('transform', `translate(${to - x} 0)`);
      };
      const labels = [...chart.querySelectorAll('.tk')].filter(text => text.getBBox().y > bottom - 4);
      const numeric = labels.every(text => /^[\d.,]+$/.test(text.textContent));
      chart.querySelectorAll('.ld, :scope > .an').forEach(element => element.remove());
      chart.querySelectorAll('.ln, .zone').forEach(enlarge);
      for (const group of [...chart.querySelectorAll('g:has(> .arr)')]) {
        move(group, group.querySelector('.arr').getBBox().x - 6);
      }
      const single = ':scope > .tk, :scope > .ax, :scope > .bnd, .pt, g > .mk, g > g > .mk';
      for (const element of [...chart.querySelectorAll(single)]) {
        if (element.matches('.pt .mk')) continue;
        const box = element.getBBox();
        const middle = box.x + box.width / 2;
        if (box.width > width / 2 || middle < left - 1 || middle > right + 1) continue;
        const isTick = element.matches('.tk, .ax') && box.y > bottom - 4;
        if (isTick && numeric) element.remove();
        else move(element, middle);
      }
      if (numeric) ticks(from, to, put);
    };

    const at = event => {
      const box = chart.getBoundingClientRect();
      const x = (event.clientX - box.left) * chart.viewBox.baseVal.width / box.width;
      return Math.min(right, Math.max(left, x));
    };
    let start = null;
    let pick = null;
    chart.addEventListener('pointerdown', event => {
      // A finger scrolls the page.
      if (event.button !== 0 || event.pointerType === 'touch') return;
      event.preventDefault();
      chart.setPointerCapture(event.pointerId);
      start = at(event);
      pick = make('rect', { class: 'pick', x: start, y: top, width: 0, height: bottom - top }, chart);
    });
    chart.addEventListener('pointermove', event => {
      if (start === null) return;
      pick.setAttribute('x', Math.min(start, at(event)));
      pick.setAttribute('width', Math.abs(at(event) - start));
    });
    const finish = event => {
      if (start === null) return;
      const [low, high] = [start, at(event)].sort((a, b) => a - b);
      start = null;
      pick.remove();
      if (event.type === 'pointercancel' || high - low < 8) return;
      const scale = (shown[1] - shown[0]) / width;
      draw(shown[0] + (low - left) * scale, shown[0] + (high - left) * scale);
    };
    chart.addEventListener('pointerup', finish);
    chart.addEventListener('pointercancel', finish);
    chart.addEventListener('dblclick', () => draw(left, right));
    button.addEventListener('click', () => draw(left, right));
  });
})();
