// The Add drawer: three tabs, presets, repeated rows, and the editor for pasted manifests.

import { annotate, goTo, yamlEditor } from './editor.js';

const ZONE = 'topology.kubernetes.io/zone';

const POD_PRESETS = {
  plain: { name: 'web', replicas: '1', cpu: '500m', memory: '512Mi' },
  spread: { name: 'web', replicas: '6', cpu: '500m', memory: '512Mi', labels: 'app=web', spread_key: ZONE, spread_max_skew: '1', spread_when: 'DoNotSchedule' },
  apart: { name: 'cache', replicas: '3', cpu: '250m', memory: '1Gi', labels: 'app=cache', affinity_kind: 'pod-anti-affinity', affinity_key: 'app', affinity_values: 'cache', affinity_topology: 'kubernetes.io/hostname' },
  gpu: { name: 'train', replicas: '1', cpu: '2', memory: '4Gi', labels: 'app=train', rows: { toleration: [{ key: 'dedicated', operator: 'Equal', value: 'gpu', effect: 'NoSchedule' }] } },
  urgent: { name: 'payments', replicas: '1', cpu: '3', memory: '2Gi', labels: 'app=payments', priority: '10000' },
  gated: { name: 'migrate', replicas: '1', cpu: '250m', memory: '256Mi', gates: 'example.com/quota' },
};
const NODE_PRESETS = {
  plain: { name: 'node', count: '3', cpu: '4', memory: '8Gi', pods: '110' },
  small: { name: 'small', count: '1', cpu: '2', memory: '4Gi', pods: '30' },
  large: { name: 'large', count: '1', cpu: '16', memory: '64Gi', pods: '110' },
  gpu: { name: 'gpu', count: '1', cpu: '8', memory: '32Gi', pods: '110', rows: { taint: [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }] } },
};

const node = (name, zone, cpu = '4', memory = '8Gi', taint = '') => `apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels:
    kubernetes.io/hostname: ${name}
    ${ZONE}: ${zone}
${taint && `spec:
  taints:
  - {key: ${taint}, value: gpu, effect: NoSchedule}
`}status:
  capacity: {cpu: "${cpu}", memory: ${memory}, pods: "110"}
`;
const pod = (name, app, cpu, memory, on) => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  labels: {app: ${app}}
spec:
  nodeName: ${on}
  containers:
  - name: main
    image: registry.example/${app}:1
    resources:
      requests: {cpu: ${cpu}, memory: ${memory}}
`;
const zones = ['eu-a', 'eu-b', 'eu-c'];
const CLUSTERS = {
  'three-zones': () => zones.flatMap((zone) => [1, 2].map((n) => node(`node-${zone.slice(-1)}${n}`, zone))),
  mixed: () => zones.flatMap((zone, i) => [node(`small-${zone.slice(-1)}`, zone, '2', '4Gi'), node(`large-${zone.slice(-1)}`, zone, String(8 * (i + 1)), `${16 * (i + 1)}Gi`)]),
  uneven: () => [[4, 'eu-a'], [2, 'eu-b'], [1, 'eu-c']].flatMap(([many, zone]) => Array.from({ length: many }, (_, n) => node(`node-${zone.slice(-1)}${n + 1}`, zone))),
  gpu: () => [...zones.map((zone) => node(`node-${zone.slice(-1)}1`, zone)), node('gpu-a1', 'eu-a', '8', '32Gi', 'dedicated'), node('gpu-b1', 'eu-b', '8', '32Gi', 'dedicated')],
  full: () => zones.flatMap((zone) => { const name = `node-${zone.slice(-1)}1`; return [node(name, zone), pod(`busy-${zone.slice(-1)}1`, 'busy', '2', '4Gi', name), pod(`busy-${zone.slice(-1)}2`, 'busy', '1500m', '3Gi', name)]; }),
};

// Text of this length and more is checked only when Apply is pressed.
const LONG = 200_000;

export function drawer(app, htmx) {
  const box = document.getElementById('drawer');
  const area = document.getElementById('manifests');
  const problems = document.getElementById('apply-errors');
  let editor = null;
  let before = null;

  function show(kind) {
    box.dataset.kind = kind;
    for (const tab of box.querySelectorAll('[data-kind-tab]')) tab.setAttribute('aria-pressed', String(tab.dataset.kindTab === kind));
    if (kind === 'paste') return edit();
    const form = box.querySelector(`#form-${kind}`);
    if (!box.querySelector(`#yaml-${kind}`).textContent.trim()) changed(form);
  }

  function open(preset) {
    before ??= document.activeElement;
    document.getElementById('notice').replaceChildren();
    if (!box.open) box.show();
    const text = preset && ready(preset);
    if (text) { paste(text); show('paste'); return; }
    show(box.dataset.kind || 'pod');
    box.querySelector(box.dataset.kind === 'paste' ? '#manifests' : `#form-${box.dataset.kind} .inp`)?.focus();
  }

  /** A cluster or a manifest to start from, as text. */
  function ready(preset) {
    if (CLUSTERS[preset]) return CLUSTERS[preset]().join('---\n');
    return box.querySelector(`template[data-manifest-of="${CSS.escape(preset)}"]`)?.content.textContent;
  }

  function close() {
    box.close();
    before?.focus?.();
    before = null;
  }

  function changed(form) {
    form.dispatchEvent(new Event('input', { bubbles: true }));
  }

  function fill(form, values) {
    form.reset();
    for (const field of form.querySelectorAll('.inp, input[type="checkbox"]')) {
      if (field.type === 'checkbox') field.checked = false;
      else if (field.name in values) field.value = values[field.name];
      else if (!field.dataset.keep) field.value = '';
    }
    for (const rows of form.querySelectorAll('[data-rows]')) {
      rows.replaceChildren();
      for (const row of values.rows?.[rows.dataset.rows] ?? []) addRow(rows, row);
    }
    for (const part of form.querySelectorAll('details')) {
      part.open = [...part.querySelectorAll('.inp')].some((field) => field.value && !field.dataset.keep) || part.querySelector('[data-rows] > *') !== null;
    }
    changed(form);
  }

  function addRow(rows, values = {}) {
    const row = box.querySelector(`template[data-row="${rows.dataset.rows}"]`).content.firstElementChild.cloneNode(true);
    for (const [part, value] of Object.entries(values)) row.querySelector(`[name$="_${part}"]`).value = value;
    rows.append(row);
    return row;
  }

  async function edit() {
    if (!editor) {
      editor = await yamlEditor(app, 'editor', area);
      editor.session.on('change', edited);
      area.addEventListener('input', edited);
    }
    editor.resize();
  }

  // While problems are shown, the list follows the text: what is mended goes away.
  function edited() {
    if (!problems.childElementCount) return;
    if (area.value.length < LONG && area.value.trim()) htmx.trigger('#recheck', 'recheck');
    else forget();
  }

  function forget() {
    problems.replaceChildren();
    editor?.session.clearAnnotations();
  }

  function paste(text) {
    forget();
    area.value = text;
    editor?.session.setValue(text);
  }

  // A field that is touched is no longer the field that was refused.
  function touched(field) {
    field.removeAttribute('aria-invalid');
    const owner = field.closest('.fld');
    for (const text of owner?.querySelectorAll('.err') ?? []) text.remove();
    for (const other of owner?.querySelectorAll('[aria-invalid]') ?? []) other.removeAttribute('aria-invalid');
    if (!field.form.querySelector('[aria-invalid]')) field.form.querySelector('[data-summary]')?.remove();
  }

  box.addEventListener('click', (event) => {
    const el = event.target.closest('button');
    if (!el) return;
    const { kindTab, preset, cluster, manifest, addRow: more, line } = el.dataset;
    if (kindTab) show(kindTab);
    else if (preset) fill(el.closest('form'), (el.closest('form').id === 'form-pod' ? POD_PRESETS : NODE_PRESETS)[preset]);
    else if (cluster || manifest) { paste(ready(cluster ?? manifest)); show('paste'); }
    else if (more) addRow(el.closest('form').querySelector(`[data-rows="${more}"]`)).querySelector('.inp').focus();
    else if ('removeRow' in el.dataset) { const form = el.closest('form'); el.closest('.row').remove(); changed(form); }
    else if (line !== undefined) goTo(editor, el.dataset);
    else if ('close' in el.dataset) close();
  });
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape') { event.preventDefault(); close(); } });

  document.getElementById('manifest-file').addEventListener('change', async (event) => {
    const file = event.target.files[0];
    if (file) { paste(await file.text()); event.target.value = ''; }
  });
  document.body.addEventListener('applied', () => { forget(); close(); });
  box.addEventListener('input', (event) => { if (event.target.form?.matches('.form')) touched(event.target); });
  // A form that comes back refused shows its YAML again.
  box.addEventListener('htmx:afterSettle', (event) => { if (event.target.matches('.form')) changed(event.target); });
  box.addEventListener('htmx:beforeRequest', (event) => {
    if (event.detail.elt.matches('form')) event.detail.elt.querySelector('[data-refusal]')?.replaceChildren();
  });
  box.addEventListener('htmx:afterSwap', (event) => {
    if (event.target === problems) annotate(editor, problems);
  });
  htmx.on(box, 'htmx:afterRequest', (event) => {
    if (event.detail.xhr?.status === 422) box.querySelector('[aria-invalid="true"]')?.focus();
  });
  return { open, close };
}
