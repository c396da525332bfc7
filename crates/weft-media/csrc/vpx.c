/* The part of libvpx that weft uses, behind functions with plain arguments:
 * libvpx's own entry points are macros and its structures change their layout
 * between releases, so Rust sees neither. Every choice of a value is made on
 * the Rust side. */
#include <stdint.h>
#include <stdlib.h>
#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

typedef struct { vpx_codec_ctx_t ctx; vpx_codec_enc_cfg_t cfg; vpx_image_t img, kept; } encoder;
typedef struct {
  int32_t width, height, fps, kbps, layers, threads, cpu_used;
  int32_t min_quantizer, max_quantizer, drop_threshold, undershoot_pct, overshoot_pct;
  int32_t buffer_initial_ms, buffer_optimal_ms, buffer_ms, max_intra_pct, static_threshold;
  int32_t layer_pct[3];
} encoder_config;
typedef struct { const uint8_t *data; size_t len; int32_t keyframe, droppable, quantizer; } encoded;
typedef struct { const uint8_t *planes[3]; int32_t strides[3]; int32_t width, height, corrupted; } decoded;

int weft_vpx_set_rate(encoder *e, int32_t kbps, const int32_t *layer_pct) {
  e->cfg.rc_target_bitrate = kbps;
  for (unsigned i = 0; e->cfg.ts_number_layers == 3 && i < 3; i++)
    e->cfg.ts_target_bitrate[i] = (unsigned)kbps * layer_pct[i] / 100;
  return e->ctx.iface ? vpx_codec_enc_config_set(&e->ctx, &e->cfg) : 0;
}

/* Quantizers from 0 to 63, and the share of the buffer's aim in percent below which pictures are dropped. */
int weft_vpx_set_bounds(encoder *e, int32_t min_quantizer, int32_t max_quantizer, int32_t drop_threshold) {
  e->cfg.rc_min_quantizer = min_quantizer; e->cfg.rc_max_quantizer = max_quantizer;
  e->cfg.rc_dropframe_thresh = drop_threshold;
  return vpx_codec_enc_config_set(&e->ctx, &e->cfg);
}

/* Copies a reference buffer (1: last, 2: golden), and puts the copy back into it. libvpx's buffers are whole
 * macroblocks. */
int weft_vpx_keep(encoder *e, int32_t buffer) {
  if (!e->kept.img_data &&
      !vpx_img_alloc(&e->kept, VPX_IMG_FMT_I420, (e->cfg.g_w + 15) & ~15u, (e->cfg.g_h + 15) & ~15u, 1))
    return VPX_CODEC_MEM_ERROR;
  vpx_ref_frame_t frame = {buffer == 1 ? VP8_LAST_FRAME : VP8_GOLD_FRAME, e->kept};
  return vpx_codec_control(&e->ctx, VP8_COPY_REFERENCE, &frame);
}

/* The copy, for tests. */
void weft_vpx_kept(encoder *e, decoded *out) {
  out->width = (int)e->cfg.g_w; out->height = (int)e->cfg.g_h; out->corrupted = 0;
  for (int i = 0; i < 3; i++) { out->planes[i] = e->kept.planes[i]; out->strides[i] = e->kept.stride[i]; }
}

int weft_vpx_put_back(encoder *e, int32_t buffer) {
  vpx_ref_frame_t frame = {buffer == 1 ? VP8_LAST_FRAME : VP8_GOLD_FRAME, e->kept};
  return vpx_codec_control(&e->ctx, VP8_SET_REFERENCE, &frame);
}

void weft_vpx_encoder_free(encoder *e) {
  if (!e) return;
  if (e->kept.img_data) vpx_img_free(&e->kept);
  if (e->ctx.iface) vpx_codec_destroy(&e->ctx);
  free(e);
}

encoder *weft_vpx_encoder_new(const encoder_config *o, int32_t *error) {
  encoder *e = calloc(1, sizeof *e);
  if (!e) { *error = VPX_CODEC_MEM_ERROR; return NULL; }
  vpx_codec_iface_t *iface = vpx_codec_vp8_cx();
  vpx_codec_enc_cfg_t *c = &e->cfg;
  if ((*error = vpx_codec_enc_config_default(iface, c, 0))) { free(e); return NULL; }
  c->g_w = o->width; c->g_h = o->height; c->g_threads = o->threads;
  c->g_timebase.num = 1; c->g_timebase.den = 90000;
  c->g_lag_in_frames = 0; c->g_pass = VPX_RC_ONE_PASS; c->kf_mode = VPX_KF_DISABLED;
  c->rc_end_usage = VPX_CBR; c->rc_resize_allowed = 0; c->rc_dropframe_thresh = o->drop_threshold;
  c->rc_min_quantizer = o->min_quantizer; c->rc_max_quantizer = o->max_quantizer;
  c->rc_undershoot_pct = o->undershoot_pct; c->rc_overshoot_pct = o->overshoot_pct;
  c->rc_buf_initial_sz = o->buffer_initial_ms; c->rc_buf_optimal_sz = o->buffer_optimal_ms;
  c->rc_buf_sz = o->buffer_ms;
  if (o->layers == 3) {
    static const unsigned id[4] = {0, 2, 1, 2}, decimator[3] = {4, 2, 1};
    c->g_error_resilient = VPX_ERROR_RESILIENT_DEFAULT;
    c->ts_number_layers = 3; c->ts_periodicity = 4;
    for (int i = 0; i < 4; i++) c->ts_layer_id[i] = id[i];
    for (int i = 0; i < 3; i++) c->ts_rate_decimator[i] = decimator[i];
  }
  weft_vpx_set_rate(e, o->kbps, o->layer_pct);
  if (!(*error = vpx_codec_enc_init(&e->ctx, iface, c, 0))) {
    vpx_codec_control(&e->ctx, VP8E_SET_CPUUSED, o->cpu_used);
    vpx_codec_control(&e->ctx, VP8E_SET_STATIC_THRESHOLD, o->static_threshold);
    vpx_codec_control(&e->ctx, VP8E_SET_MAX_INTRA_BITRATE_PCT, o->max_intra_pct);
    vpx_codec_control(&e->ctx, VP8E_SET_TOKEN_PARTITIONS, VP8_ONE_TOKENPARTITION);
    vpx_img_wrap(&e->img, VPX_IMG_FMT_I420, o->width, o->height, 1, (unsigned char *)1);
    return e;
  }
  weft_vpx_encoder_free(e);
  return NULL;
}

/* layer: temporal layer of this picture, -1 without layers; attempt: 0 for good, 1 may be taken back, 2 after one
 * that was. */
int weft_vpx_encode(encoder *e, const uint8_t *y, const uint8_t *u, const uint8_t *v, int64_t pts,
                    uint32_t duration, int32_t keyframe, int32_t layer, int32_t position, int32_t attempt, encoded *out) {
  static const vpx_enc_frame_flags_t base = VP8_EFLAG_NO_REF_ARF | VP8_EFLAG_NO_UPD_ARF;
  static const vpx_enc_frame_flags_t top = VP8_EFLAG_NO_UPD_LAST | VP8_EFLAG_NO_UPD_ENTROPY;
  static const vpx_enc_frame_flags_t pattern[4] = {
      VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_UPD_GF, VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_UPD_GF | top,
      VP8_EFLAG_NO_REF_GF | top, VP8_EFLAG_NO_UPD_GF | top};
  vpx_enc_frame_flags_t flags = keyframe ? VPX_EFLAG_FORCE_KF : 0;
  if (layer >= 0) {
    vpx_codec_control(&e->ctx, VP8E_SET_TEMPORAL_LAYER_ID, layer);
    if (!keyframe) flags |= base | pattern[position & 3];
  }
  if (attempt && !keyframe) flags |= VP8_EFLAG_NO_UPD_ENTROPY;
  if (attempt && !keyframe && layer < 0) {
    /* Rate control may refresh the golden frame in spite of this: what comes after goes into it and not by it. */
    flags |= VP8_EFLAG_NO_UPD_ARF;
    flags |= attempt == 1 ? VP8_EFLAG_NO_UPD_GF : VP8_EFLAG_FORCE_GF | VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_REF_ARF;
  }
  e->img.planes[0] = (uint8_t *)y; e->img.planes[1] = (uint8_t *)u; e->img.planes[2] = (uint8_t *)v;
  e->img.stride[0] = e->cfg.g_w; e->img.stride[1] = e->img.stride[2] = (e->cfg.g_w + 1) / 2;
  int error = vpx_codec_encode(&e->ctx, &e->img, pts, duration, flags, VPX_DL_REALTIME);
  out->len = 0;
  if (error) return error;
  vpx_codec_iter_t it = NULL;
  for (const vpx_codec_cx_pkt_t *p; (p = vpx_codec_get_cx_data(&e->ctx, &it));) {
    if (p->kind != VPX_CODEC_CX_FRAME_PKT) continue;
    out->data = p->data.frame.buf; out->len = p->data.frame.sz;
    out->keyframe = !!(p->data.frame.flags & VPX_FRAME_IS_KEY);
    out->droppable = !!(p->data.frame.flags & VPX_FRAME_IS_DROPPABLE);
  }
  int q = -1;
  vpx_codec_control(&e->ctx, VP8E_GET_LAST_QUANTIZER, &q);
  out->quantizer = q;
  return 0;
}

vpx_codec_ctx_t *weft_vpx_decoder_new(int32_t *error) {
  vpx_codec_ctx_t *d = calloc(1, sizeof *d);
  vpx_codec_dec_cfg_t cfg = {1, 0, 0};
  if (!d) { *error = VPX_CODEC_MEM_ERROR; return NULL; }
  if ((*error = vpx_codec_dec_init(d, vpx_codec_vp8_dx(), &cfg, 0))) { free(d); return NULL; }
  return d;
}

int weft_vpx_decode(vpx_codec_ctx_t *d, const uint8_t *data, uint32_t len, decoded *out) {
  int error = vpx_codec_decode(d, data, len, NULL, 0), corrupted = 0;
  vpx_codec_iter_t it = NULL;
  vpx_image_t *m = vpx_codec_get_frame(d, &it);
  out->width = m ? (int)m->d_w : 0; out->height = m ? (int)m->d_h : 0;
  for (int i = 0; m && i < 3; i++) { out->planes[i] = m->planes[i]; out->strides[i] = m->stride[i]; }
  vpx_codec_control(d, VP8D_GET_FRAME_CORRUPTED, &corrupted);
  out->corrupted = corrupted;
  return error;
}

void weft_vpx_decoder_free(vpx_codec_ctx_t *d) { if (d) { vpx_codec_destroy(d); free(d); } }
const char *weft_vpx_error(int32_t error) { return vpx_codec_err_to_string((vpx_codec_err_t)error); }
