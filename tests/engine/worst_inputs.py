"""Texts that take longest to check: a table of descriptions → a function from a number of lines to a text.

Each is as hostile as its kind can be: everything equal, everything different, everything wrong, or as long as
possible.
"""

from __future__ import annotations

from collections.abc import Callable

Lines = Callable[[int], str]
"""Number → its line."""

Text = Callable[[int], str]
"""Number of lines → a text of about that length."""

LONG = 40
"""Characters that a "line" of a single long value stands for."""


def lines(count: int, line: Lines | str) -> str:
    return "".join(f"{line if isinstance(line, str) else line(number)}\n" for number in range(count))


def of_size(text: Text, size: int) -> str:
    """Return a text of about ``size`` characters, or as many as its kind allows."""
    count, built = 1, text(1)
    while len(built) < size and count < size:
        count = min(max(count * size // len(built), count + 1), count * 8)
        longer = text(count)
        if len(longer) == len(built):
            break
        built = longer
    return built[:size]


def kind(name: str, body: str, version: str = "v1", metadata: str = "") -> str:
    return f"apiVersion: {version}\nkind: {name}\nmetadata:\n  name: x\n{metadata}{body}"


CONTAINERS = "spec:\n  containers:\n  - name: c\n    image: i\n"


def in_container(field: str, line: Lines | str) -> Text:
    return lambda count: kind("Pod", f"{CONTAINERS}    {field}:\n{lines(count, line)}")


def in_spec(field: str, line: Lines | str) -> Text:
    return lambda count: kind("Pod", f"{CONTAINERS}  {field}:\n{lines(count, line)}")


def in_metadata(field: str, line: Lines | str, name: str = "Pod") -> Text:
    body = CONTAINERS if name == "Pod" else ""
    return lambda count: kind(name, body, metadata=f"  {field}:\n{lines(count, line)}")


def in_object(name: str, head: str, line: Lines | str, version: str = "v1") -> Text:
    return lambda count: kind(name, f"{head}\n{lines(count, line)}", version)


def long_value(head: str, piece: str, tail: str = "") -> Text:
    """Return one pod with ``head``, ``piece`` repeated, ``tail``."""
    return lambda count: kind("Pod", f"{CONTAINERS}{head}{piece * (count * LONG // len(piece))}{tail}\n")


def selector(name: str, line: Lines | str) -> Text:
    head = "spec:\n  template: {spec: {containers: [{name: c, image: i}]}}\n  selector:\n    matchExpressions:"
    return in_object(name, head, line, "apps/v1")


def mounts_and_devices(count: int) -> str:
    """Return mounts with different paths, beside devices with different paths."""
    mounts = lines(count // 2, lambda n: f"    - {{name: m{n}, mountPath: /m{n}}}")
    devices = lines(count // 2, lambda n: f"    - {{name: d{n}, devicePath: /d{n}}}")
    return kind("Pod", f"{CONTAINERS}    volumeMounts:\n{mounts}    volumeDevices:\n{devices}")


def claims_of_containers(count: int) -> str:
    """Alternate claims of the pod and containers that request another claim."""
    claims = lines(count // 2, lambda n: f"  - {{name: a{n}, resourceClaimName: b}}")
    wanting = lines(count // 2, lambda n: f"  - {{name: c{n}, image: i, resources: {{claims: [{{name: b{n}}}]}}}}")
    return kind("Pod", f"{CONTAINERS}{wanting}  resourceClaims:\n{claims}")


def requested_claims(count: int) -> str:
    """Return claims that a container repeats with another request."""
    requests = lines(count, lambda n: f"      - {{name: a{n // 2}, request: r{n}}}")
    return kind("Pod", f"{CONTAINERS}    resources:\n      claims:\n{requests}")


def claim_templates(count: int) -> str:
    """Return as many volumes as claim templates, with other names."""
    claims = lines(count // 2, lambda n: f"  - {{metadata: {{name: a{n}}}, spec: {{}}}}")
    volumes = lines(count // 2, lambda n: f"      - name: b{n}")
    template = f"  template:\n    spec:\n      containers: [{{name: c, image: i}}]\n      volumes:\n{volumes}"
    return kind("StatefulSet", f"spec:\n{template}  volumeClaimTemplates:\n{claims}", "apps/v1")


def sidecars(count: int) -> str:
    """Return sidecars that each request another resource, beside a limit for the pod."""
    line = "  - {{name: a{0}, image: i, restartPolicy: Always, resources: {{limits: {{a.b/{0}: 1}}}}}}"
    return kind(
        "Pod", f"{CONTAINERS}  resources: {{limits: {{cpu: 1}}}}\n  initContainers:\n{lines(count, line.format)}"
    )


def unknown_and_wrong(count: int) -> str:
    """Return unknown fields in half of the lines, invalid tolerations in the others."""
    unknown = lines(count // 2, lambda n: f"  unknown{n}: 1")
    wrong = lines(count // 2, "  - {operator: Maybe}")
    return kind("Pod", f"{CONTAINERS}{unknown}  tolerations:\n{wrong}")


def long_name_and_ephemeral_volumes(count: int) -> str:
    volumes = lines(count // 2, lambda n: f"  - {{name: v{n}, ephemeral: {{}}}}")
    text = kind("Pod", f"{CONTAINERS}  volumes:\n{volumes}")
    return text.replace("name: x", f"name: {'x' * (count // 2 * LONG // 4)}", 1)


def long_key_and_repeated_keys(count: int) -> str:
    """Return repeated keys below a long key."""
    return f'{{"{"k" * (count // 2 * LONG // 4)}": {{{lines(count // 2, """ "a": 1,""")} "a": 1}}}}'


def long_key_and_many_maps(count: int) -> str:
    return f'{{"{"k" * (count // 2 * LONG // 4)}": [{lines(count // 2, """ {"a": {}},""")} 1]}}'


def long_source_name(count: int) -> str:
    """Return a projected source with a long name, and files with equal paths."""
    items = lines(count // 2, "          - {key: k, path: p}")
    name = "n" * (count // 2 * LONG // 4)
    source = f"      sources:\n      - secret:\n          name: {name}\n          items:\n{items}"
    return kind("Pod", f"{CONTAINERS}  volumes:\n  - name: v\n    projected:\n{source}")


def repeated(unit: str) -> Text:
    return lambda count: unit * count


def merges(count: int) -> str:
    """Return mappings that merge another one."""
    base = lines(100, lambda n: f"  k{n}: 1")
    return f"base: &b\n{base}a:\n{lines(min(count, 1000), '  - <<: *b')}"


WORST: dict[str, Text] = {
    # pods
    "equal container ports": in_container("ports", "    - {containerPort: 80}"),
    "ports that differ in the host port": in_container(
        "ports", lambda n: f"    - {{containerPort: 80, hostPort: {n % 65000 + 1}}}"
    ),
    "ports that differ in the address": in_container(
        "ports", lambda n: f"    - {{containerPort: 80, hostPort: 1, hostIP: a{n}}}"
    ),
    "unknown fields": lambda count: kind("Pod", CONTAINERS + lines(count, lambda n: f"  a{n}: 1")),
    "unknown fields that look like known ones": lambda count: kind(
        "Pod", CONTAINERS + lines(count, lambda n: f"  terminationGracePeriodS{n}: 1")
    ),
    "unknown fields in objects of their own": repeated("{kind: Pod, apiVersion: v1, tolerationz: 1}\n---\n"),
    "unknown kinds": lambda count: lines(count, lambda n: f"{{kind: Replic{n}Set, apiVersion: v1}}\n---"),
    "unknown fields beside wrong values": unknown_and_wrong,
    "environment variables with different names": in_container("env", lambda n: f"    - name: a{n}"),
    "environment variables with equal names": in_container("env", "    - name: a"),
    "environment variables with wrong names": in_container("env", "    - name: 'é'"),
    "mounts and devices": mounts_and_devices,
    "volumes with equal names": in_spec("volumes", "  - name: v"),
    "volumes with different names": in_spec("volumes", lambda n: f"  - name: v{n}"),
    "ephemeral volumes of a pod with a long name": long_name_and_ephemeral_volumes,
    "files with equal paths in a source with a long name": long_source_name,
    "containers": in_spec("initContainers", lambda n: f"  - {{name: a{n}, image: i}}"),
    "empty containers": in_spec("initContainers", "  - {}"),
    "ephemeral containers": in_spec("ephemeralContainers", "  - {name: a, image: i}"),
    "sidecars with a resource each": sidecars,
    "claims of the pod and of containers": claims_of_containers,
    "claims with requests": requested_claims,
    "tolerations": in_spec("tolerations", lambda n: f"  - {{key: a{n}, operator: Exists}}"),
    "wrong tolerations": in_spec("tolerations", "  - {operator: '<'}"),
    "spread constraints": in_spec(
        "topologySpreadConstraints",
        lambda n: f"  - {{maxSkew: 1, topologyKey: a{n}, whenUnsatisfiable: DoNotSchedule}}",
    ),
    "equal spread constraints": in_spec(
        "topologySpreadConstraints", "  - {maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}"
    ),
    "label keys of a spread constraint": in_spec(
        "topologySpreadConstraints:\n  - maxSkew: 1\n    matchLabelKeys", lambda n: f"    - a{n}"
    ),
    "host aliases": in_spec("hostAliases", lambda n: f"  - {{ip: 1.1.{n // 250 % 250}.{n % 250}}}"),
    "pull secrets": in_spec("imagePullSecrets", lambda n: f"  - name: a{n}"),
    "scheduling gates": in_spec("schedulingGates", lambda n: f"  - name: a{n}"),
    "equal scheduling gates": in_spec("schedulingGates", "  - name: a"),
    "search domains": in_spec("dnsConfig:\n    searches", lambda n: f"    - a{n}"),
    "kernel parameters": in_spec("securityContext:\n    sysctls", lambda n: f"    - {{name: a.b{n}, value: v}}"),
    "capabilities that contradict": in_container(
        "securityContext:\n      allowPrivilegeEscalation: false\n      capabilities:\n        add",
        "        - CAP_SYS_ADMIN",
    ),
    "a resource list": in_container("resources:\n      limits", lambda n: f"        a.b/{n}: 1"),
    "node selector terms": in_spec(
        "affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
        "        nodeSelectorTerms",
        lambda n: f"        - matchExpressions: [{{key: a, operator: In, values: [a{n}]}}]",
    ),
    "wrong labels": in_metadata("labels", lambda n: f"    a{n}: 'b '"),
    "labels": in_metadata("labels", lambda n: f"    a{n}: b{n}"),
    "annotations": in_metadata("annotations", lambda n: f"    a{n}: b{n}"),
    "owners that all control": in_metadata(
        "ownerReferences", lambda n: f"  - {{apiVersion: v1, kind: a, name: a{n}, uid: u, controller: true}}"
    ),
    "finalizers": in_metadata("finalizers", lambda n: f"  - a{n}"),
    "managed fields": in_metadata("managedFields", "  - {}"),
    # other kinds
    "ports of a service": in_object(
        "Service", "spec:\n  ports:", lambda n: f"  - {{name: a{n}, port: {n % 65000 + 1}}}"
    ),
    "equal ports of a service": in_object("Service", "spec:\n  ports:", "  - {name: a, port: 1}"),
    "address families of a service": in_object("Service", "spec:\n  ipFamilies:", lambda n: f"  - a{n}"),
    "addresses of a service": in_object("Service", "spec:\n  clusterIPs:", "  - 1.1.1.1"),
    "taints": in_object("Node", "spec:\n  taints:", lambda n: f"  - {{key: a{n}, effect: NoSchedule}}"),
    "equal taints": in_object("Node", "spec:\n  taints:", "  - {key: a, effect: NoSchedule}"),
    "addresses of a node": in_object("Node", "status:\n  addresses:", lambda n: f"  - {{type: a, address: a{n}}}"),
    "images of a node": in_object("Node", "status:\n  images:", lambda n: f"  - names: [a{n}]"),
    "address ranges of a node": in_object("Node", "spec:\n  podCIDRs:", "  - 1.1.1.1/24"),
    "amounts of a node": in_object("Node", "status:\n  capacity:", lambda n: f"    a.b/{n}: 1.5"),
    "drivers of a CSINode": in_object(
        "CSINode", "spec:\n  drivers:", lambda n: f"  - {{name: a{n}, nodeID: b}}", "storage.k8s.io/v1"
    ),
    "requirements of a selector": selector("ReplicaSet", lambda n: f"    - {{key: a{n}, operator: In, values: [a]}}"),
    "values of a requirement": selector(
        "ReplicaSet", "    - {key: a, operator: In, values: [a, b, c, d, e, f, g, ' ']}"
    ),
    "claim templates beside volumes": claim_templates,
    "exit codes": in_object(
        "Job",
        "spec:\n  template: {}\n  podFailurePolicy:\n    rules:\n    - action: Ignore\n      onExitCodes:\n"
        "        operator: In\n        values:",
        lambda n: f"        - {n + 1}",
        "batch/v1",
    ),
    "rules of a job": in_object(
        "Job", "spec:\n  template: {}\n  podFailurePolicy:\n    rules:", "    - {action: Ignore}", "batch/v1"
    ),
    "keys of a config map": in_object("ConfigMap", "data:", lambda n: f"  a{n}: b"),
    "wrong keys of a config map": in_object("ConfigMap", "data:", lambda n: f"  'a {n}': b"),
    "addresses of endpoints": in_object("Endpoints", "subsets:\n- addresses:", "  - ip: 127.0.0.1"),
    # amounts
    "amounts with a large exponent": in_container("resources:\n      limits", lambda n: f"        a.b/{n}: 37e99998"),
    "an amount with many digits": long_value("    resources: {limits: {cpu: ", "7", "}}"),
    "an amount with many decimals": long_value("    resources: {limits: {cpu: '0.", "7", "'}}"),
    "an amount with many zeros": long_value("    resources: {limits: {cpu: '", "0", "!'}}"),
    # long values
    "a long name": long_value("    workingDir: ", "x"),
    "a long image": long_value("  - name: ", "a/", "\n    image: ''"),
    "a long image with many parts": long_value("  - image: ", "a-", "!"),
    "a long node name": long_value("  nodeName: ", "a.", "!"),
    "a long label value": long_value("  nodeSelector: {a: '", "a.", "!'}"),
    "a long label key": long_value("  nodeSelector: {'", "a.", "!': a}"),
    "a long unknown field": long_value("  ", "a.", ": 1"),
    "a long address": long_value("  hostAliases: [{ip: '", "1:", "'}]"),
    "a long time": long_value("status: {startTime: '2026-01-01T00:00:00.", "1", "!'}"),
    "a long registry": long_value("  volumes: [{name: v, quobyte: {volume: v, registry: '", ",", "'}}]"),
    "a long user": long_value("  securityContext: {windowsOptions: {runAsUserName: '", "a.", "!'}}"),
    # YAML and JSON
    "repeated keys": repeated("a: 1\n"),
    "keys given twice beneath a long key": long_key_and_repeated_keys,
    "mappings beneath a long key": long_key_and_many_maps,
    "merged mappings": merges,
    "empty documents": repeated("---\n"),
    "documents": repeated("---\na: 1\n"),
    "anchors": lambda count: "a:\n" + lines(count, lambda n: f"- &a{n} 1"),
    "aliases": lambda count: "a: &a 1\nb:\n" + lines(count, "- *a"),
    "tags": lambda count: "a:\n" + lines(count, "- !!str 1"),
    "a wrong tag": lambda count: f"a: !{'x' * count * LONG} 1",
    "opening brackets": repeated("[" * LONG),
    "opening braces": repeated("{" * LONG),
    "question marks": repeated("? " * (LONG // 2)),
    "dashes": repeated("- " * (LONG // 2)),
    "colons": repeated(": " * (LONG // 2)),
    "commas": lambda count: f"[{'a,' * (count * LONG // 2)}]",
    "pairs in brackets": lambda count: f"[{'a: b,' * (count * LONG // 5)}]",
    "quotes": repeated("'" * LONG),
    "an open quote": lambda count: '"' + "a " * (count * LONG // 2),
    "escapes": lambda count: 'a: "' + r"\u0041" * (count * LONG // 6) + '"',
    "escapes in JSON": lambda count: '{"a": "' + r"\u0041" * (count * LONG // 6) + '"}',
    "an open text in JSON": lambda count: '{"a": "' + r"\"" * (count * LONG // 2),
    "spaces": lambda count: " " * (count * LONG) + "a",
    "tabs": lambda count: "a:" + "\t" * (count * LONG) + "b",
    "line breaks": lambda count: "\n" * (count * LONG) + "a: b: c",
    "a folded text": lambda count: "a: >\n" + lines(count, "  b\n"),
    "a kept text": lambda count: "a: |+\n" + lines(count, "  b\n"),
    "a plain text on many lines": lambda count: "a: b\n" + lines(count, "  b"),
    "comments": lambda count: lines(count, "#" * (LONG - 1)),
    "a whole number with many digits": lambda count: "a: " + "1" * (count * LONG),
    "a whole number with many digits in JSON": lambda count: '{"a": ' + "1" * (count * LONG) + "}",
    "a number with many decimals": lambda count: "a: 0." + "1" * (count * LONG),
    "a number with underscores": lambda count: "a: 1" + "_1" * (count * LONG // 2),
    "a number to base 60": lambda count: "a: 1" + ":1" * (count * LONG // 2),
    "a number to base 16": lambda count: "a: 0x" + "1" * (count * LONG),
    "a number with a long exponent": lambda count: "a: 1e" + "1" * (count * LONG),
    "a key with many digits": lambda count: "1" * min(count * LONG, 900) + ": 1\n",
    "lists in lists": lambda count: "[" + "[[]]," * (count * LONG // 5) + "]",
    "lists of objects in lists": lambda count: "kind: List\nitems:\n" + lines(count, "- {kind: List, items: []}"),
    "items that are no objects": lambda count: "kind: List\nitems:\n" + lines(count, "- 1"),
    "documents that are no objects": repeated("---\n1\n"),
    "numbers in JSON": lambda count: '{"a": [' + "1," * (count * LONG // 2) + "1]}",
    "keys in JSON": lambda count: '{"a": {' + "".join(f'"{n}":1,' for n in range(count * LONG // 9)) + '"a":1}}',
    "JSON that ends in something else": lambda count: '{"a": [' + "1," * (count * LONG // 2) + "1]} x",
    "JSON values one after the other": repeated("{} " * (LONG // 3)),
}


def configuration(body: str) -> str:
    return f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{body}"


def of_profiles(line: Lines | str, head: str = "profiles:") -> Text:
    return lambda count: configuration(f"{head}\n{lines(count, line)}")


def in_profile(head: str, line: Lines | str) -> Text:
    return of_profiles(line, f"profiles:\n- {head}")


def duration(text: Text) -> Text:
    return lambda count: configuration(f"leaderElection: {{leaseDuration: '{text(count)}'}}\n")


CONFIGURATIONS: dict[str, Text] = {
    "profiles": of_profiles(lambda n: f"- schedulerName: a{n}"),
    "equal profiles": of_profiles("- schedulerName: a"),
    "unknown fields": of_profiles(lambda n: f"a{n}: 1", ""),
    "plugins at one point": in_profile("plugins:\n    filter:\n      enabled:", lambda n: f"      - name: a{n}"),
    "plugins at all points": in_profile("plugins:\n    multiPoint:\n      enabled:", lambda n: f"      - name: a{n}"),
    "plugins that are off": in_profile("plugins:\n    multiPoint:\n      disabled:", lambda n: f"      - name: a{n}"),
    "equal plugins": in_profile("plugins:\n    score:\n      enabled:", "      - name: NodeName"),
    "arguments of one plugin": in_profile("pluginConfig:", "  - name: NodeResourcesFit"),
    "wrong arguments": in_profile("pluginConfig:", "  - {name: PodTopologySpread, args: {defaultConstraints: 1}}"),
    "resources of a strategy": in_profile(
        "pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        resources:",
        lambda n: f"        - {{name: a{n}, weight: 1}}",
    ),
    "points of a shape": in_profile(
        "pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n"
        "        requestedToCapacityRatio:\n          shape:",
        lambda n: f"          - {{utilization: {n}, score: 1}}",
    ),
    "extenders": of_profiles(lambda n: f"- urlPrefix: a{n}", "extenders:"),
    "simulated extenders": of_profiles(
        lambda n: f"- {{urlPrefix: 'simulated://a{n}', filterVerb: f, simulated: {{filter: 'pods.size() < {n}'}}}}",
        "extenders:",
    ),
    "resources of an extender": of_profiles(lambda n: f"  - name: a.b/{n}", "extenders:\n- managedResources:"),
    "a duration of digits": duration(lambda count: "1" * (count * LONG)),
    "a duration of dots": duration(lambda count: "." * (count * LONG)),
    "a duration of many parts": duration(lambda count: "0.1ns" * (count * LONG // 5)),
    "a duration of many decimals": duration(lambda count: "0." + "1" * (count * LONG) + "s"),
    "durations of many decimals": duration(lambda count: ("0." + "3" * 990 + "s") * (count * LONG // 1000)),
}
