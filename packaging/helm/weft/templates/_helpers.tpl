{{- define "weft.name" -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "weft.selector" -}}
app.kubernetes.io/name: weft
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "weft.labels" -}}
{{ include "weft.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "weft.config" -}}
listen = "0.0.0.0:{{ .Values.ports.http }}"
media-port = {{ .Values.ports.media }}
metrics = "0.0.0.0:{{ .Values.ports.metrics }}"
drain = {{ .Values.drain }}
{{- with .Values.publicAddress }}
public-address = {{ . | quote }}
{{- end }}
{{- if .Values.tls.secretName }}
certificate = "/etc/weft/tls/tls.crt"
key = "/etc/weft/tls/tls.key"
{{- else if .Values.tls.insecureHttp }}
insecure-http = true
{{- end }}
{{- if .Values.tokens.secretName }}
{{- with .Values.tokens.token }}
token-file = "/etc/weft/secrets/{{ . }}"
{{- end }}
{{- with .Values.tokens.adminToken }}
admin-token-file = "/etc/weft/secrets/{{ . }}"
{{- end }}
{{- if .Values.webhook.url }}
webhook = {{ .Values.webhook.url | quote }}
webhook-secret-file = "/etc/weft/secrets/{{ required "tokens.webhookSecret names the entry with the webhook's secret" .Values.tokens.webhookSecret }}"
{{- end }}
{{- end }}
{{- if .Values.cluster.nats }}
cluster = {{ .Values.cluster.nats | quote }}
node = {{ include "weft.name" . | quote }}
{{- with .Values.cluster.login }}
cluster-login = "/etc/weft/secrets/{{ . }}"
{{- end }}
{{- with .Values.cluster.publicUrl }}
public-url = {{ . | quote }}
{{- end }}
{{- with .Values.cluster.region }}
region = {{ . | quote }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.options }}
{{ $name }} = {{ $value | toJson }}
{{- end }}
{{- end -}}
