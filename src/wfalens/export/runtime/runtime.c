/* Reads texts with an automaton of whole numbers. runtime.js computes the same numbers, bit for bit: every division rounds
   down, and nothing leaves 53 bits, up to which the numbers of JavaScript are exact. */

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#define VECTORS 1
#else
#define VECTORS 0
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 64")
#else
#define UNROLLED /* others do so by themselves */
#endif
#define WINDOWS (VECTORS && !WFA_GRAM && !WFA_TITLE)

#define ONE WFA_ONE /* of outputs, nodes of quadrature and steps of the linear kind */
#define NO_CODE UINT32_MAX

/* x / 2^bits, rounded down */
static int64_t shifted(int64_t x, unsigned bits) { return -1 >> 1 == -1 || x >= 0 ? x >> bits : ~(~x >> bits); }

/* --- texts to code points */

static size_t decode(const unsigned char *text, size_t at, size_t end, uint32_t *code) {
  static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  unsigned lead = text[at], more = lead < 0xC2 ? 4 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 4;
  uint32_t value = lead & (0x3Fu >> more);
  if (lead < 0x80) {
    *code = lead;
    return at + 1;
  }
  if (more < 4 && end - at > more) {
    unsigned k;
    for (k = 1; k <= more && (text[at + k] & 0xC0u) == 0x80u; k++) value = value * 64 + (text[at + k] & 0x3Fu);
    if (k > more && value >= least[more] && value < 0x110000u) {
      *code = value;
      return at + more + 1;
    }
  }
  *code = 0xFFFD;
  return at + 1;
}

#if !WFA_GRAM || WFA_STRIP
static int is_space(uint32_t code) {
  if (code > 0x20 && code < 0x85) return 0;
  return (code >= 9 && code <= 13) || (code >= 0x1C && code <= 0x20) || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}
#endif

#if WFA_LOWER || WFA_TITLE
/* the row of `width` numbers whose first one is the last that is not above `code`; rows: there is none */
static size_t row_of(const int32_t *table, size_t rows, size_t width, uint32_t code) {
  size_t low = 0, high = rows;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if ((uint32_t)table[middle * width] <= code) low = middle + 1;
    else high = middle;
  }
  return low == 0 ? rows : low - 1;
}

static uint32_t moved(const int32_t *runs, size_t rows, uint32_t code) {
  size_t row = row_of(runs, rows, 4, code);
  const int32_t *run = runs + 4 * row;
  if (row == rows || code > (uint32_t)run[1] || (code - (uint32_t)run[0]) % (uint32_t)run[2]) return code;
  return (uint32_t)((int32_t)code + run[3]);
}
#define MOVED(runs, code) moved(runs, sizeof(runs) / sizeof((runs)[0]) / 4, code)
#endif

#if WFA_SIGMA || WFA_TITLE
static int within(const int32_t *ranges, size_t rows, uint32_t code) {
  size_t row = row_of(ranges, rows, 2, code);
  return row < rows && code <= (uint32_t)ranges[2 * row + 1];
}
#define WITHIN(ranges, code) within(ranges, sizeof(ranges) / sizeof((ranges)[0]) / 2, code)
#endif

#if WFA_QUOTES
static uint32_t typewritten(uint32_t code) {
  switch (code) {
    case 0x2018: case 0x2019: case 0x201A: case 0x201B: case 0x2032: return '\'';
    case 0x201C: case 0x201D: case 0x201E: case 0x201F: case 0x2033: case 0xAB: case 0xBB: return '"';
    default: return code;
  }
}
#endif

typedef struct {
  const unsigned char *text;
  size_t begin, at, end;   /* of the text without blanks around it, where that is asked */
  size_t first, last;      /* where the code point that was read last stands */
  uint32_t queue[2];       /* code points that are to come of one that became several */
  unsigned queued;
  int after_cased;
} reader;

#if WFA_SIGMA
static uint32_t seen_code(const reader *from, size_t at, size_t *next) {
  uint32_t code;
  *next = decode(from->text, at, from->end, &code);
#if WFA_QUOTES == 1
  code = typewritten(code);
#endif
  return code;
}

/* whether the next code point that case does not ignore is cased */
static int cased_ahead(const reader *from, size_t at) {
  while (at < from->end) {
    uint32_t code = seen_code(from, at, &at);
    if (!WITHIN(wfa_ignorable, code)) return WITHIN(wfa_cased, code);
  }
  return 0;
}

static int cased_behind(const reader *from, size_t at) {
  while (at > from->begin) {
    size_t start = at - 1, next, steps = 0;
    uint32_t code;
    while (start > from->begin && steps < 3 && (from->text[start] & 0xC0u) == 0x80u) start--, steps++;
    code = seen_code(from, start, &next);
    if (next != at) { /* not UTF-8: the byte before stands for itself */
      start = at - 1;
      code = 0xFFFD;
    }
    if (!WITHIN(wfa_ignorable, code)) return WITHIN(wfa_cased, code);
    at = start;
  }
  return 0;
}
#endif

#if WFA_LOWER || WFA_TITLE
static uint32_t small(reader *from, uint32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  if (code == 0x130) { /* the one letter whose small form has two code points */
    from->queue[0] = 0x307;
    from->queued = 1;
    return 'i';
  }
#if WFA_SIGMA
  if (code == 0x3A3 && cased_behind(from, from->first) && !cased_ahead(from, from->last)) return 0x3C2;
#endif
  return MOVED(wfa_lower_runs, code);
}
#endif

#if WFA_TITLE
static uint32_t large(reader *from, uint32_t code) {
  size_t rows = sizeof(wfa_title_long) / sizeof(wfa_title_long[0]) / 4, row = row_of(wfa_title_long, rows, 4, code);
  const int32_t *letters = wfa_title_long + 4 * row;
  if (row == rows || (uint32_t)letters[0] != code) return MOVED(wfa_title_runs, code);
  from->queued = letters[3] ? 2 : 1; /* taken from the end */
  from->queue[letters[3] ? 1 : 0] = (uint32_t)letters[2];
  if (letters[3]) from->queue[0] = (uint32_t)letters[3];
  return (uint32_t)letters[1];
}
#endif

/* the next code point after quotation marks and case are changed */
static uint32_t next_code(reader *from) {
  uint32_t code;
  if (from->queued) return from->queue[--from->queued];
  if (from->at >= from->end) return NO_CODE;
  from->first = from->at;
  from->last = from->at = decode(from->text, from->at, from->end, &code);
#if WFA_QUOTES == 1
  code = typewritten(code);
#endif
#if WFA_LOWER
  code = small(from, code);
#elif WFA_TITLE
  {
    int cased = WITHIN(wfa_cased, code);
    code = from->after_cased ? small(from, code) : large(from, code);
    from->after_cased = cased;
  }
#endif
#if WFA_QUOTES == 2
  code = typewritten(code);
#endif
  return code;
}

static void start_reading(reader *from, const char *text, size_t bytes) {
  memset(from, 0, sizeof *from);
  from->text = (const unsigned char *)text;
  from->end = bytes;
#if WFA_STRIP
  {
    uint32_t code;
    size_t at = 0, next, end = 0;
    int inside = 0;
    for (; at < bytes; at = next) {
      next = decode(from->text, at, bytes, &code);
      if (is_space(code)) continue;
      if (!inside) from->begin = at;
      inside = 1;
      end = next;
    }
    from->at = from->begin;
    from->end = end;
  }
#endif
}

/* --- code points to words */

#define BLOCK 16 /* bytes that are hashed at once */
static const uint32_t multipliers[] = {0x9E3779B1u, 0x85EBCA77u, 0xC2B2AE3Du, 0x27D4EB2Fu, /* of the first hash */
                                       0x165667B1u, 0x7FEB352Du, 0x846CA68Bu, 0xC2B2AE35u}; /* of the second */

/* two hashes of a word's UTF-8 bytes */
typedef struct {
  uint32_t a, b, bytes;
} word_hash;

static const word_hash no_letters = {WFA_WORD_SEED, WFA_WORD_SEED, 0};

static uint32_t mixed_hash(uint32_t one, uint32_t two) { return (one ^ two >> 15) * 0x85EBCA6Bu; }

/* what a full block leaves for the next one */
static void mix(word_hash *word) {
  word->a = mixed_hash(word->a, word->b);
  word->b = mixed_hash(word->b, word->a);
}

static void add_byte(word_hash *word, uint32_t byte) {
  const uint32_t at = word->bytes % BLOCK;
  if (at == 0 && word->bytes) mix(word);
  word->a += (byte << 8 * (at % 4)) * multipliers[at / 4];
  word->b += (byte << 8 * ((at + 2) % 4)) * multipliers[4 + at / 4];
  word->bytes++;
}

static void add_letter(word_hash *word, uint32_t code) {
  if (code < 0x80) {
    add_byte(word, code);
    return;
  }
  if (code < 0x800) add_byte(word, 0xC0 | code >> 6);
  else {
    if (code < 0x10000) add_byte(word, 0xE0 | code >> 12);
    else {
      add_byte(word, 0xF0 | code >> 18);
      add_byte(word, 0x80 | (code >> 12 & 63));
    }
    add_byte(word, 0x80 | (code >> 6 & 63));
  }
  add_byte(word, 0x80 | (code & 63));
}

/* A perfect hash: one hash gives the bucket, whose pilot and the other hash give the only place where the word can be. There
   stand 24 bits of the first hash, and the entry. */
static inline void look_up(word_hash word, wfa_token *token) {
#if WFA_WORD_COUNT
  const uint32_t a = mixed_hash(word.a + word.bytes, word.b);
  const uint32_t pilot = wfa_pilots[(uint64_t)a * WFA_WORD_BUCKETS >> 32];
  const uint32_t mixed = (word.b ^ pilot * 0x9E3779B1u) * 0x85EBCA6Bu;
  const uint8_t *at = wfa_words + ((uint64_t)mixed * WFA_WORD_SLOTS >> 32) * (4 + WFA_WIDE_ENTRIES);
#if VECTORS /* x86 reads bytes from low to high */
  uint32_t slot;
  memcpy(&slot, at, sizeof slot);
#else
  const uint32_t slot = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
#endif
  token->known = (slot & 0xFFFFFFu) == a >> 8;
#if WFA_WIDE_ENTRIES
  token->entry = (uint16_t)((slot >> 24 | (uint32_t)at[4] << 8) & (0u - token->known));
#else
  token->entry = (uint16_t)(slot >> 24 & (0u - token->known));
#endif
#else
  (void)word;
  token->entry = 0;
  token->known = 0;
#endif
}

#if WFA_GRAM
typedef struct {
  reader from;
  uint32_t codes[WFA_GRAM]; /* the last ones, in a ring */
  size_t places[WFA_GRAM];
  size_t count;
} splitter;

static void start_splitting(splitter *words, const char *text, size_t bytes) {
  start_reading(&words->from, text, bytes);
  words->count = 0;
}

static int slow_token(splitter *words, wfa_token *token) {
  word_hash word = no_letters;
  size_t k;
  do {
    uint32_t code = next_code(&words->from);
    if (code == NO_CODE) return 0;
    words->codes[words->count % WFA_GRAM] = code;
    words->places[words->count % WFA_GRAM] = words->from.first;
    words->count++;
  } while (words->count < WFA_GRAM);
  for (k = 0; k < WFA_GRAM; k++) add_letter(&word, words->codes[(words->count + k) % WFA_GRAM]);
  token->first = words->places[words->count % WFA_GRAM];
  token->end = words->from.last;
  look_up(word, token);
  return 1;
}
#else
#define WINDOW 64 /* bytes that are split at once, where all are letters, blanks or marks whatever stands around them */

typedef struct {
  reader from;
#if WINDOWS
  size_t base;           /* of the window in the text */
  size_t stop;           /* where its last whole word ends, from there on */
  uint64_t starts, ends; /* of its words that are to come, and of all words: a bit for each byte */
  uint8_t letters[WINDOW + BLOCK];
#endif
} splitter;

static void start_splitting(splitter *words, const char *text, size_t bytes) {
  start_reading(&words->from, text, bytes);
#if WINDOWS
  words->starts = 0;
#endif
}

#if WINDOWS
/* What its bytes are: a bit for each. Small letters replace large ones. */
typedef struct {
  uint64_t letters, blanks, marks;
} sorts;

#ifdef __AVX512VBMI__
/* by the table of what bytes stand for; a window is filled up with blanks */
static inline sorts sort_bytes(uint8_t *letters, const unsigned char *text, size_t size) {
  const __m512i blank = _mm512_set1_epi8(' ');
  const __m512i bytes = _mm512_mask_loadu_epi8(blank, ~(uint64_t)0 >> (WINDOW - size), text);
  __m512i plain = _mm512_permutex2var_epi8(_mm512_loadu_si512(wfa_plain), bytes, _mm512_loadu_si512(wfa_plain + WINDOW));
  const uint64_t ascii = ~_mm512_movepi8_mask(bytes);
  sorts found;
  found.letters = _mm512_mask_cmpgt_epi8_mask(ascii, plain, blank);
  found.blanks = _mm512_mask_cmpeq_epi8_mask(ascii, plain, blank);
  found.marks = 0;
#if WFA_BASIC
  found.marks = _mm512_mask_cmpgt_epi8_mask(_mm512_testn_epi8_mask(plain, plain), bytes, blank);
  found.marks = _mm512_mask_cmpneq_epi8_mask(found.marks, bytes, _mm512_set1_epi8('"'));
  found.marks = _mm512_mask_cmpneq_epi8_mask(found.marks, bytes, _mm512_set1_epi8('<'));
  plain = _mm512_mask_mov_epi8(plain, found.marks, bytes);
#endif
  _mm512_storeu_si512(letters, plain);
  return found;
}
#else
#ifdef __AVX2__
typedef __m256i byte_lanes;
#define ALL(byte) _mm256_set1_epi8(byte)
#define IS(byte) _mm256_cmpeq_epi8(found, ALL(byte))
#define ABOVE(one, two) _mm256_cmpgt_epi8(one, two)
#define BOTH(one, two) _mm256_and_si256(one, two)
#define EITHER(one, two) _mm256_or_si256(one, two)
#define BUT(one, two) _mm256_andnot_si256(two, one)
#define BITS(vector) ((uint64_t)(unsigned)_mm256_movemask_epi8(vector) << at)
#else
typedef __m128i byte_lanes;
#define ALL(byte) _mm_set1_epi8(byte)
#define IS(byte) _mm_cmpeq_epi8(found, ALL(byte))
#define ABOVE(one, two) _mm_cmpgt_epi8(one, two)
#define BOTH(one, two) _mm_and_si128(one, two)
#define EITHER(one, two) _mm_or_si128(one, two)
#define BUT(one, two) _mm_andnot_si128(two, one)
#define BITS(vector) ((uint64_t)(unsigned)_mm_movemask_epi8(vector) << at)
#endif
#define AMONG(first, last) BOTH(ABOVE(found, ALL((first)-1)), ABOVE(ALL((last) + 1), found))

/* a window that is filled up with blanks */
static void copy_window(uint8_t *letters, const unsigned char *text, size_t size) {
  size_t at;
  memset(letters, ' ', WINDOW);
  for (at = 0; at + BLOCK <= size; at += BLOCK) memcpy(letters + at, text + at, BLOCK);
  if (size >= BLOCK) memcpy(letters + size - BLOCK, text + size - BLOCK, BLOCK);
  else
    for (; at < size; at++) letters[at] = text[at];
}

static inline sorts sort_bytes(uint8_t *letters, const unsigned char *text, size_t size) {
  sorts all = {0, 0, 0};
  size_t at;
  copy_window(letters, text, size);
  UNROLLED for (at = 0; at < WINDOW; at += sizeof(byte_lanes)) {
    byte_lanes found, blank, letter;
    memcpy(&found, letters + at, sizeof found);
    blank = EITHER(AMONG('\t', '\r'), AMONG(0x1C, ' '));
    letter = ABOVE(found, ALL(' '));
#if WFA_BASIC
    {
      const byte_lanes mark = EITHER(EITHER(EITHER(AMONG('\'', ')'), IS('.')), EITHER(IS(','), IS('!'))), IS('?'));
      blank = EITHER(blank, AMONG(':', ';'));
      letter = BUT(letter, EITHER(EITHER(EITHER(mark, blank), IS('"')), IS('<')));
      all.marks |= BITS(mark);
    }
#endif
    all.letters |= BITS(letter);
    all.blanks |= BITS(blank);
#if WFA_LOWER
    found = EITHER(found, BOTH(AMONG('A', 'Z'), ALL(' ')));
    memcpy(letters + at, &found, sizeof found);
#endif
  }
  return all;
}
#endif

/* Splits the next bytes. Nothing is found where the next word needs a closer look. */
static inline void open_window(splitter *words) {
  const size_t left = words->from.end - words->from.at, size = left < WINDOW ? left : WINDOW;
  const sorts found = sort_bytes(words->letters, words->from.text + words->from.at, size);
  uint64_t odd = ~(found.letters | found.blanks | found.marks);
  words->base = words->from.at;
  if (size == WINDOW) odd |= (uint64_t)1 << (WINDOW - 1); /* the last word may go on */
  words->starts = (found.letters & ~(found.letters << 1)) | found.marks;
  words->ends = ~found.letters | words->starts;
  if (odd) { /* without the word that leads there */
    const uint64_t others = ~found.letters & ((odd & (0 - odd)) - 1);
    const unsigned kept = others ? WINDOW - (unsigned)__builtin_clzll(others) : 0;
    words->starts &= ((uint64_t)1 << kept) - 1;
    words->stop = words->base + kept;
  } else words->stop = words->from.end;
  words->from.at = words->stop;
}

#ifdef __AVX2__
/* what four letters each of a block add to both hashes */
static inline void add_block(word_hash *word, __m128i letters) {
  const __m256i halves = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                          2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  const __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)multipliers);
  __m256i sums = _mm256_mullo_epi32(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(letters), halves), all);
  sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0x4E));
  sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0xB1));
  word->a += (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(sums));
  word->b += (uint32_t)_mm_cvtsi128_si32(_mm256_extracti128_si256(sums, 1));
}
#else
#define ODD(four) _mm_srli_epi64(four, 32)
#define SUMS(one, two) _mm_add_epi32(_mm_mul_epu32(one, two), _mm_mul_epu32(ODD(one), ODD(two)))
static inline void add_block(word_hash *word, __m128i letters) {
  const __m128i *all = (const __m128i *)(const void *)multipliers;
  const __m128i turned = _mm_or_si128(_mm_slli_epi32(letters, 16), _mm_srli_epi32(letters, 16));
  const __m128i a = SUMS(letters, _mm_loadu_si128(all)), b = SUMS(turned, _mm_loadu_si128(all + 1));
  const __m128i both = _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
  word->a += (uint32_t)_mm_cvtsi128_si32(both);
  word->b += (uint32_t)_mm_cvtsi128_si32(_mm_srli_si128(both, 4));
}
#endif

/* the hashes of a word of the window */
static inline word_hash hash_at(const uint8_t *letters, uint32_t bytes) {
  static const uint8_t kept[2 * BLOCK] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  word_hash word = no_letters;
  for (word.bytes = bytes; bytes > BLOCK; bytes -= BLOCK, letters += BLOCK) {
    add_block(&word, _mm_loadu_si128((const __m128i *)(const void *)letters));
    mix(&word);
  }
  add_block(&word, _mm_and_si128(_mm_loadu_si128((const __m128i *)(const void *)letters),
                                 _mm_loadu_si128((const __m128i *)(const void *)(kept + BLOCK - bytes))));
  return word;
}

/* the next words of the window */
static inline size_t window_tokens(splitter *words, wfa_token *tokens, size_t room) {
  uint64_t starts = words->starts;
  size_t count = 0;
  for (; starts && count < room; starts &= starts - 1, count++) {
    const unsigned at = (unsigned)__builtin_ctzll(starts), more = (unsigned)__builtin_ctzll(words->ends >> at >> 1);
    tokens[count].first = words->base + at;
    tokens[count].end = words->base + at + 1 + more;
    look_up(hash_at(words->letters + at, more + 1), &tokens[count]);
  }
  words->starts = starts;
  return count;
}
#endif

#if WFA_BASIC
static int is_mark(uint32_t code) {
  return code == '.' || code == ',' || code == '(' || code == ')' || code == '!' || code == '?' || code == '\'';
}

/* whether a line break of HTML stands here, in capitals or not; it is skipped */
static int skips_break(reader *from) {
  const unsigned char *text = from->text + from->at;
  if (from->end - from->at < 5 || (text[0] | 32) != 'b' || (text[1] | 32) != 'r' || memcmp(text + 2, " />", 3)) return 0;
  from->at += 5;
  return 1;
}
#endif

/* the next word, character by character */
static int slow_token(splitter *words, wfa_token *token) {
  reader *from = &words->from;
  word_hash word = no_letters;
  int begun = 0;
  for (;;) {
    uint32_t code = 0;
    if (!from->queued) { /* most of a text is bytes that are letters or blanks whatever stands around them */
      size_t at = from->at;
      for (; at < from->end && (code = wfa_plain[from->text[at]]) > ' '; at++) add_byte(&word, code);
      if (at > from->at) {
        if (!begun) token->first = from->at;
        begun = 1;
        token->end = from->at = at;
      }
      if (at < from->end && code == ' ') {
        from->at++;
        if (begun) break;
        continue;
      }
    }
    code = next_code(from);
    if (code == NO_CODE) break;
#if WFA_BASIC
    if (code == '"') continue;
    if (code == '<' && skips_break(from)) code = ' ';
    if (is_mark(code) && begun) { /* a token itself, which the next call reads */
      from->at = from->first;
      break;
    }
#endif
    if (is_space(code)) {
      if (begun) break;
      continue;
    }
    if (!begun) token->first = from->first;
    begun = 1;
    token->end = from->last;
    add_letter(&word, code);
#if WFA_BASIC
    if (is_mark(code)) break;
#endif
  }
  if (begun) look_up(word, token);
  return begun;
}

#endif

/* the next words of a text, as many as there is room for; 0: it has no more */
static size_t next_tokens(splitter *words, wfa_token *tokens, size_t room) {
  size_t count = 0;
  while (count < room) {
#if WINDOWS
    if (!words->starts && !words->from.queued) {
      if (words->from.at >= words->from.end) break;
      open_window(words);
    }
    if (words->starts) {
      count += window_tokens(words, tokens + count, room - count);
      continue;
    }
    if (words->stop > words->base) continue;
#endif
    if (!slow_token(words, tokens + count)) break;
    count++;
  }
  return count;
}

/* the words of a text that are read: the automaton may cut it at either end */
typedef struct {
  splitter words;
  size_t left;
} word_reader;

#define SOME 8 /* words that are split at once */

static void start_words(word_reader *from, const char *text, size_t bytes) {
  start_splitting(&from->words, text, bytes);
  from->left = WFA_MAX_LENGTH && !WFA_KEEPS_END ? WFA_MAX_LENGTH : SIZE_MAX;
#if WFA_MAX_LENGTH && WFA_KEEPS_END
  {
    wfa_token tokens[SOME];
    size_t count = 0, found;
    while ((found = next_tokens(&from->words, tokens, SOME)) > 0) count += found;
    start_splitting(&from->words, text, bytes);
    for (count = count > WFA_MAX_LENGTH ? count - WFA_MAX_LENGTH : 0; count; count -= found)
      found = next_tokens(&from->words, tokens, count < SOME ? count : SOME);
  }
#endif
}

static size_t next_words(word_reader *from, wfa_token *tokens, size_t room) {
  const size_t count = next_tokens(&from->words, tokens, room < from->left ? room : from->left);
  from->left -= count;
  return count;
}

size_t wfa_tokens(const char *text, size_t bytes, wfa_token *tokens, size_t room) {
  word_reader from;
  wfa_token others[SOME];
  size_t count = 0, found;
  start_words(&from, text, bytes);
  do {
    found = count < room ? next_words(&from, tokens + count, room - count) : next_words(&from, others, SOME);
    count += found;
  } while (found);
  return count;
}

/* --- products of states and weights, both of 16 bits */

#define SIDE 16 /* columns of weights that stand together, those of two rows side by side */
#if VECTORS
#ifdef __AVX2__
#define PUT_SIDE(to, packed) _mm256_storeu_si256((__m256i *)(void *)(to), packed)
#define PACKED(low, high) _mm256_blend_epi16(_mm256_srli_epi32(low, 8), _mm256_slli_epi32(high, 8), 0xAA)
#else
#define PUT_SIDE(to, packed) _mm_storeu_si128((__m128i *)(void *)(to), packed)
#define PACKED(low, high) _mm_or_si128(_mm_srli_epi32(low, 8), _mm_and_si128(_mm_slli_epi32(high, 8), _mm_set1_epi32(-65536)))
#endif
#ifdef __AVX512VNNI__
typedef __m512i lanes;
#define LANES 16 /* columns */
#define LOAD(from) _mm512_loadu_si512(from)
#define SPREAD(two) _mm512_set1_epi32(two)
#define ADD(one, two) _mm512_add_epi32(one, two)
#define ADD_PRODUCTS(sum, pair, weights) add_products_of(sum, pair, weights)
/* as _mm512_dpwssd_epi32, around which GCC 12 copies sums from register to register */
static inline lanes add_products_of(lanes sum, lanes pair, lanes weights) {
  __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(pair), "vm"(weights));
  return sum;
}
#define NOTHING _mm512_setzero_si512()
#define PUT(to, sums) _mm512_storeu_si512(to, sums)
#define SIDE_BY_SIDE(sums, at) PACKED(_mm512_castsi512_si256((sums)[at]), _mm512_extracti64x4_epi64((sums)[at], 1))
#elif defined(__AVX2__)
typedef __m256i lanes;
#define LANES 8
#define LOAD(from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define SPREAD(two) _mm256_set1_epi32(two)
#define ADD(one, two) _mm256_add_epi32(one, two)
#define ADD_PRODUCTS(sum, pair, weights) ADD(sum, _mm256_madd_epi16(pair, weights))
#define NOTHING _mm256_setzero_si256()
#define PUT(to, sums) _mm256_storeu_si256((__m256i *)(void *)(to), sums)
#define SIDE_BY_SIDE(sums, at) PACKED((sums)[at], (sums)[(at) + 1])
#else
typedef __m128i lanes;
#define LANES 4
#define LOAD(from) _mm_loadu_si128((const __m128i *)(const void *)(from))
#define SPREAD(two) _mm_set1_epi32(two)
#define ADD(one, two) _mm_add_epi32(one, two)
#define ADD_PRODUCTS(sum, pair, weights) ADD(sum, _mm_madd_epi16(pair, weights))
#define NOTHING _mm_setzero_si128()
#define PUT(to, sums) _mm_storeu_si128((__m128i *)(void *)(to), sums)
#define SIDE_BY_SIDE(sums, at) PACKED((sums)[at], (sums)[(at) + 2])
#endif
#define KEEP(vector) __asm__("" : "+x"(vector)) /* compilers would make one long chain of sums, or load it again */
#endif

#if !WFA_LINEAR
/* --- stochastic kinds: a distribution of whole numbers that sum to WFA_STATE_ONE */

#define CHANGE_ONE_BITS 0
#define FINAL(i, c) wfa_final[(i) * WFA_CLASSES + (c)]
#define COLUMN_FACTOR 1
#if WFA_BLOCKS
/* Small matrices of 8 bits stand as blocks of 16 columns. Of every 16 states, i and i + 8 stand side by side. What rounding
   takes of a state goes to state 0 with the next word: column 0 holds what it lacks to WFA_ROW_ONE. */
typedef int16_t state_number;
#define SIDES ((WFA_STATES + SIDE - 1) / SIDE)
#define ROOM (SIDES * SIDE)
#define LAST_SIDE (WFA_STATES - SIDE * (SIDES - 1))
#define PAIRS (SIDE / 2 * (SIDES - 1) + (LAST_SIDE < SIDE / 2 ? LAST_SIDE : SIDE / 2))
#define PADDED ((WFA_CLASSES + SIDE - 1) / SIDE * SIDE)
#define PLACE(i) ((i) / SIDE * SIDE + (i) % (SIDE / 2) * 2 + (i) % SIDE / (SIDE / 2))
#else
#if WFA_STATE_ONE <= UINT16_MAX
typedef uint16_t state_number;
#else
typedef uint32_t state_number;
#endif
#define ROOM WFA_STATES
#define PLACE(i) (i)
#endif

static void start_state(state_number *d) {
  memset(d, 0, ROOM * sizeof *d);
  d[0] = WFA_STATE_ONE;
}

#if !(WFA_BLOCKS && VECTORS)
/* what rounding took of the state, which goes to state 0 with the next word */
static wfa_sum missing_mass(const state_number *d) {
#if WFA_LOSSY
  (void)d;
  return 0;
#else
  int64_t mass = 0;
  size_t j;
  for (j = 0; j < ROOM; j++) mass += d[j];
  return (wfa_sum)(WFA_STATE_ONE - mass);
#endif
}
#endif

#if WFA_BLOCKS
static const int16_t *pairs_of(size_t entry) { return wfa_weights + entry * PAIRS * ROOM * 2; }

static uint32_t weight_of(size_t entry, size_t i, size_t j) {
  const int16_t weight = pairs_of(entry)[(PLACE(i) / 2 * ROOM + j) * 2 + PLACE(i) % 2];
  return (uint32_t)(j ? weight : weight + WFA_ROW_ONE);
}
#define ROW_START(entry) 0
#define ROW_SIZE(entry, i) WFA_STATES
#define TARGET(at, k) k
#define WEIGHT(entry, i, at, k) weight_of(entry, i, k)
#else
#define ROW_START(entry) wfa_matrix_starts[entry]
#define ROW_SIZE(entry, i) wfa_row_sizes[(entry) * WFA_STATES + (i)]
#define TARGET(at, k) wfa_targets[at]
#define WEIGHT(entry, i, at, k) (wfa_sum)(wfa_weights[at] + (WFA_ROW_ONE == 256 && wfa_weights[at] == 255)) /* 255 is 256 */
#endif

#if WFA_BLOCKS && VECTORS
#define AT_ONCE (SIDE / LANES > 1 ? SIDE / LANES / 2 : 1) /* vectors of sums of the first half of a side */

/* Adds d*weights to the sums, in two parts that do not wait for each other. Rows of weights have `columns` pairs. */
static inline void add_products(const int16_t *d, const int16_t *weights, size_t columns, lanes *sums, size_t count) {
  lanes more[ROOM / LANES + PADDED / LANES];
  size_t pair, k;
  UNROLLED for (k = 0; k < count; k++) more[k] = NOTHING;
  UNROLLED for (pair = 0; pair < PAIRS; pair++) {
    int32_t two;
    lanes both, *to = pair % 2 ? more : sums;
    memcpy(&two, d + 2 * pair, sizeof two);
    both = SPREAD(two);
    UNROLLED for (k = 0; k < count; k++) to[k] = ADD_PRODUCTS(to[k], both, LOAD(weights + (pair * columns + k * LANES) * 2));
  }
  UNROLLED for (k = 0; k < count; k++) {
    KEEP(sums[k]);
    sums[k] = ADD(sums[k], more[k]);
  }
}

/* d -> d*E; both may be the same */
#ifdef __AVX2__
static inline /* elsewhere it takes too much room in its callers */
#else
static
#endif
  void step(const state_number *d, size_t entry, state_number *after) {
  static const int32_t first[LANES] = {WFA_STATE_ONE * WFA_ROW_ONE};
  lanes sums[ROOM / LANES];
  size_t side, k;
  sums[0] = LOAD(first);
  UNROLLED for (k = 1; k < ROOM / LANES; k++) sums[k] = NOTHING;
  add_products(d, pairs_of(entry), ROOM, sums, ROOM / LANES);
  UNROLLED for (side = 0; side < SIDES; side++)
    UNROLLED for (k = 0; k < AT_ONCE; k++)
      PUT_SIDE(after + side * SIDE + k * SIDE / AT_ONCE, SIDE_BY_SIDE(sums, side * (SIDE / LANES) + k));
}
#else
/* d -> d*E */
static void step(const state_number *restrict d, size_t entry, state_number *restrict after) {
  wfa_sum sums[WFA_STATES] = {0};
  size_t i, k, at = ROW_START(entry);
  sums[0] = missing_mass(d) * WFA_ROW_ONE;
  for (i = 0; i < WFA_STATES; i++) {
    const wfa_sum mass = (wfa_sum)d[PLACE(i)];
    const size_t size = ROW_SIZE(entry, i);
    if (mass)
      for (k = 0; k < size; k++) sums[TARGET(at + k, k)] += mass * WEIGHT(entry, i, at + k, k);
    at += size;
  }
  memset(after, 0, ROOM * sizeof *after);
  for (k = 0; k < WFA_STATES; k++) after[PLACE(k)] = (state_number)(sums[k] / WFA_ROW_ONE);
}
#endif

/* columns -> E*columns; numbers of different classes stand side by side */
static void back(const int32_t *restrict columns, size_t entry, int32_t *restrict before) {
  size_t i, k, c, at = ROW_START(entry);
  for (i = 0; i < WFA_STATES; i++) {
    wfa_sum sums[WFA_FREE_CLASSES] = {0};
    const size_t size = ROW_SIZE(entry, i);
    for (k = 0; k < size; k++) {
      const wfa_sum weight = WEIGHT(entry, i, at + k, k);
      const int32_t *column = columns + TARGET(at + k, k) * WFA_FREE_CLASSES;
      for (c = 0; c < WFA_FREE_CLASSES; c++) sums[c] += weight * (uint32_t)column[c];
    }
    for (c = 0; c < WFA_FREE_CLASSES; c++) before[i * WFA_FREE_CLASSES + c] = (int32_t)(sums[c] / WFA_ROW_ONE);
    at += size;
  }
}

#if WFA_LOSSY
/* where mass is lost, what is left is doubled until it is more than half */
static void rescale(state_number *d) {
  uint64_t mass = 0;
  size_t j;
  for (j = 0; j < WFA_STATES; j++) mass += d[j];
  for (; mass > 0 && 2 * mass <= WFA_STATE_ONE; mass *= 2)
    for (j = 0; j < WFA_STATES; j++) d[j] = (state_number)(2 * d[j]);
}
#endif

#define COLUMN_AT(i, c) ((i) * WFA_FREE_CLASSES + (c))

/* change*column in parts of 2^26 */
static int64_t dot(const int32_t *change, const int32_t *columns, size_t c) {
  int64_t sum = 0;
  size_t i;
  for (i = 0; i < WFA_STATES; i++) sum += (int64_t)change[i] * columns[COLUMN_AT(i, c)];
  return shifted(sum, WFA_STATE_BITS - 4);
}

#if WFA_BLOCKS
/* the class with the largest weight; weights are in parts of ONE * 64 */
static int best_of(const int32_t *sums, uint32_t *probabilities) {
  size_t c;
  int best = 0;
  for (c = 0; c < WFA_CLASSES; c++) {
    if (sums[c] > sums[best]) best = (int)c;
    probabilities[c] = (uint32_t)sums[c] >> 6;
  }
  return best;
}
#else
static int read_out(const state_number *d, uint32_t *probabilities) {
  uint64_t sums[WFA_CLASSES], all = 0;
  size_t i, c;
  int best = 0;
  for (c = 0; c < WFA_CLASSES; c++) sums[c] = (uint64_t)missing_mass(d) * wfa_final[c];
  for (i = 0; i < WFA_STATES; i++)
    for (c = 0; c < WFA_CLASSES; c++) sums[c] += (uint64_t)d[PLACE(i)] * wfa_final[i * WFA_CLASSES + c];
  for (c = 0; c < WFA_CLASSES; c++) {
    if (sums[c] > sums[best]) best = (int)c;
    probabilities[c] = (uint32_t)(sums[c] / WFA_STATE_ONE);
    all += probabilities[c];
  }
#if WFA_LOSSY
  for (c = 0; c < WFA_CLASSES; c++) probabilities[c] = (uint32_t)(all ? (uint64_t)probabilities[c] * ONE / all : ONE / WFA_CLASSES);
#endif
  return all ? best : WFA_UNDECIDED;
}
#endif
#else
/* --- the linear kind: x -> x*d + (x*P)*s + b, with d, s and b made from the factors of a word */

typedef int32_t state_number;
#define ROOM WFA_STATES
#define PLACE(i) (i)
#define CHANGE_ONE_BITS 6
#define FINAL(i, c) wfa_final[(c) * WFA_STATES + (i)]
#define COLUMN_FACTOR 16
#define COLUMN_AT(i, c) ((c) * WFA_STATES + (i))
#define NUMBERS (WFA_STATES - 1) /* the last state is always WFA_STATE_ONE */
#define HALF (WFA_TURNS * (WFA_WIDTH / 2)) /* pairs of the first layer that turn */
#define ONE_BITS 22
#define READ_AT_ONCE 8 /* texts */

#if WFA_SHORT_STEPS
typedef int16_t step_number;
#define STEP_BITS 7 /* that they lack */
#else
typedef int32_t step_number;
#define STEP_BITS 0
#endif

typedef struct {
  step_number d[NUMBERS], s[NUMBERS], b[NUMBERS];
} parts;

/* numbers beyond `most` are cut there, so that none can leave 53 bits */
static int64_t cut(int64_t value, int64_t most) { return value > most ? most : value < -most ? -most : value; }

static void start_state(state_number *x) { memcpy(x, wfa_start, sizeof wfa_start); }

static int64_t polynomial(const int32_t *table, size_t size, int64_t x) {
  int64_t sum = table[0];
  size_t k;
  for (k = 1; k < size; k++) sum = table[k] + shifted(sum * x, ONE_BITS);
  return sum;
}

/* 2^-t in parts of 2^30, for t >= 0 in parts of ONE */
static int64_t halved(int64_t t) {
  int64_t whole = t >> ONE_BITS;
  return whole > 30 ? 0 : shifted(polynomial(wfa_exp2, sizeof(wfa_exp2) / sizeof(wfa_exp2[0]), t - whole * ONE), (unsigned)whole);
}

static int64_t sigmoid(int64_t t) {
  int64_t value = ((int64_t)1 << 52) / (((int64_t)1 << 30) + halved(t >= 0 ? t : -t));
  return t >= 0 ? value : ONE - value;
}

#if HALF
static size_t partner(size_t j) { return j < HALF ? j + HALF : j - HALF; }

/* of an angle in turns */
static int64_t sine(int64_t t) {
  int64_t part = t - shifted(t, ONE_BITS) * ONE, quadrant = part * 4 >> ONE_BITS, y = part * 4 - quadrant * ONE, value;
  if (quadrant % 2) y = ONE - y;
  value = shifted(polynomial(wfa_sine, sizeof(wfa_sine) / sizeof(wfa_sine[0]), y), 6);
  return quadrant >= 2 ? -value : value;
}
#endif

static int64_t described(size_t entry, size_t column) {
  int64_t sum = 0, value;
  size_t r;
  for (r = 0; r < WFA_FACTORS; r++)
    sum += (int64_t)wfa_factors[entry * WFA_FACTORS + r] * wfa_expansion[r * WFA_COLUMNS + column];
  value = wfa_offset[column] + shifted(shifted(sum, WFA_FIRST_SHIFT) * (int64_t)wfa_multipliers[column], wfa_shifts[column]);
  return cut(value, INT32_MAX);
}

/* without the last bits, to the nearest */
static step_number rounded(int64_t value) {
  return (step_number)(STEP_BITS ? cut(shifted(value + (1 << STEP_BITS >> 1), STEP_BITS), INT16_MAX) : value);
}

static void make_parts(size_t entry, parts *made) {
  size_t j;
  for (j = 0; j < NUMBERS; j++) {
    int64_t sigma = sigmoid(described(entry, j));
    made->d[j] = rounded(shifted(WFA_DECAY * (WFA_TURNS ? 2 * sigma - ONE : sigma), ONE_BITS));
    made->s[j] = j < WFA_WIDTH ? 0 : rounded(cut(described(entry, NUMBERS + j - WFA_WIDTH), ONE));
    made->b[j] = rounded(described(entry, 2 * NUMBERS - WFA_WIDTH + j));
  }
#if HALF
  for (j = 0; j < HALF; j++) {
    int64_t radius = shifted(WFA_DECAY * sigmoid(described(entry, j)), ONE_BITS), angle = described(entry, HALF + j);
    made->d[j] = made->d[HALF + j] = rounded(shifted(radius * sine(angle + ONE / 4), ONE_BITS));
    made->s[HALF + j] = rounded(shifted(radius * sine(angle), ONE_BITS));
    made->s[j] = (step_number)-made->s[HALF + j];
  }
#endif
}

/* the numbers of a step in parts of ONE */
static int64_t kept_of(const parts *word, size_t j) { return (int64_t)word->d[j] * (1 << STEP_BITS); }
static int64_t gate_of(const parts *word, size_t j) { return (int64_t)word->s[j] * (1 << STEP_BITS); }

static const parts *prepared;
static size_t prepared_count;

size_t wfa_prepare(int32_t *steps, size_t room) {
  const size_t entries = sizeof(wfa_factors) / sizeof(wfa_factors[0]) / WFA_FACTORS;
  parts *made = (parts *)(void *)steps;
  size_t entry, count = room / WFA_STEP_NUMBERS < entries ? room / WFA_STEP_NUMBERS : entries;
  for (entry = 0; entry < count; entry++) make_parts(entry, made + entry);
  prepared = made;
  prepared_count = count;
  return count;
}

static const parts *parts_of(size_t entry, parts *made) {
  if (entry < prepared_count) return prepared + entry;
  make_parts(entry, made);
  return made;
}

#if NUMBERS > WFA_WIDTH
#define COLUMNS ((WFA_WIDTH + SIDE - 1) / SIDE * SIDE) /* of links to a layer; those of two states stand side by side */
#define LINKS_TO(layer) (((layer) + 1) / 2 * COLUMNS * 2)
#define LINK(link, i, j) (link)[((i) / 2 * COLUMNS + (j)) * 2 + (i) % 2]
#else
#define COLUMNS 0
#endif
#if WFA_LINK_BITS == WFA_READ_SHIFT
#define READ_OF(sum) (sum)
#elif WFA_LINK_BITS > WFA_READ_SHIFT
#define READ_OF(sum) shifted(sum, WFA_LINK_BITS - WFA_READ_SHIFT)
#else
#define READ_OF(sum) ((int64_t)(sum) * ((int64_t)1 << (WFA_READ_SHIFT - WFA_LINK_BITS)))
#endif
#define QUICK_LINKS (VECTORS && WFA_READ_SHIFT && COLUMNS)

/* what is read of a state: of the partner in the first layer, of all earlier layers in others */
typedef struct {
  wfa_short states[NUMBERS + 1]; /* without their last bits; the last one fills up a pair */
  int32_t read[NUMBERS + COLUMNS];
} reads;

static void start_reads(const state_number *x, reads *found) {
  size_t i;
  for (i = 0; i < WFA_WIDTH; i++) found->read[i] = 0;
#if HALF
  for (i = 0; i < HALF; i++) {
    found->read[i] = x[i + HALF];
    found->read[i + HALF] = x[i];
  }
#endif
  for (i = 0; i < NUMBERS; i++)
    found->states[i] = (wfa_short)(-1 >> 1 == -1 || x[i] >= 0 ? x[i] >> WFA_READ_SHIFT : ~(~x[i] >> WFA_READ_SHIFT));
  found->states[NUMBERS] = 0;
}

#if QUICK_LINKS
#define BESIDE (COLUMNS / LANES % 2 ? 1 : 2)

/* What texts read of earlier layers: what is loaded of the links serves them all. */
static inline void read_links(reads *texts, const size_t count) {
  const wfa_link *link = wfa_links;
  size_t layer, c, pair, k, t;
  for (layer = WFA_WIDTH; layer < NUMBERS; link += LINKS_TO(layer), layer += WFA_WIDTH) {
    for (c = 0; c < COLUMNS; c += BESIDE * LANES) {
      lanes sums[READ_AT_ONCE][BESIDE];
      UNROLLED for (t = 0; t < READ_AT_ONCE; t++)
        UNROLLED for (k = 0; k < BESIDE; k++) sums[t][k] = NOTHING;
      for (pair = 0; pair < (layer + 1) / 2; pair++) {
        lanes weights[BESIDE];
        UNROLLED for (k = 0; k < BESIDE; k++) {
          weights[k] = LOAD(link + (pair * COLUMNS + c + k * LANES) * 2);
          KEEP(weights[k]);
        }
        UNROLLED for (t = 0; t < count; t++) {
          int32_t two;
          memcpy(&two, texts[t].states + 2 * pair, sizeof two);
          UNROLLED for (k = 0; k < BESIDE; k++) sums[t][k] = ADD_PRODUCTS(sums[t][k], SPREAD(two), weights[k]);
        }
      }
      UNROLLED for (t = 0; t < count; t++)
        UNROLLED for (k = 0; k < BESIDE; k++) PUT(texts[t].read + layer + c + k * LANES, sums[t][k]);
    }
    for (t = 0; t < count; t++)
      for (k = layer; k < layer + WFA_WIDTH; k++) texts[t].read[k] = (int32_t)READ_OF(texts[t].read[k]);
  }
}
#elif COLUMNS
static void read_links(reads *texts, size_t count) {
  size_t layer, i, j;
  for (; count--; texts++) {
    const wfa_link *link = wfa_links;
    for (layer = WFA_WIDTH; layer < NUMBERS; link += LINKS_TO(layer), layer += WFA_WIDTH)
      for (j = 0; j < WFA_WIDTH; j++) {
        wfa_sum sum = 0;
        for (i = 0; i < layer; i++) sum += (wfa_sum)texts->states[i] * LINK(link, i, j);
        texts->read[layer + j] = (int32_t)READ_OF(sum);
      }
  }
}
#endif

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define HALF_LANES(vector) _mm512_srli_epi64(vector, 32)
#if WFA_WIDTH % 16 == 0 /* what was stored with a mask waits longer before it is loaded */
#define NUMBERS_AT(kept, from) _mm512_loadu_si512(from)
#define SHORT_AT(kept, from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define PUT_NUMBERS(to, kept, numbers) _mm512_storeu_si512(to, numbers)
#else
#define NUMBERS_AT(kept, from) _mm512_maskz_loadu_epi32(kept, from)
#define SHORT_AT(kept, from) _mm256_maskz_loadu_epi16(kept, from)
#define PUT_NUMBERS(to, kept, numbers) _mm512_mask_storeu_epi32(to, kept, numbers)
#endif
#if WFA_SHORT_STEPS
#define STEPS_AT(kept, from) _mm512_cvtepi16_epi32(SHORT_AT(kept, from))
#else
#define STEPS_AT(kept, from) NUMBERS_AT(kept, from)
#endif
#define PRODUCTS(one, two, bits) _mm512_srai_epi64(_mm512_mul_epi32(one, two), bits)

/* the numbers of some lanes: x*d + gate*s + b */
static inline __m512i sums_of(__m512i x, __m512i d, __m512i gate, __m512i s, __m512i b, unsigned gate_bits) {
  const __m512i most = _mm512_set1_epi64(WFA_STATE_ONE - 1), least = _mm512_set1_epi64(1 - WFA_STATE_ONE);
  const __m512i sum = _mm512_add_epi64(_mm512_add_epi64(PRODUCTS(x, d, ONE_BITS - STEP_BITS), PRODUCTS(gate, s, gate_bits)), b);
  return _mm512_max_epi64(least, _mm512_min_epi64(most, sum));
}

/* the numbers from `j` to `end` */
static inline void finish(state_number *x, const reads *found, const parts *word, size_t j, size_t end, unsigned gate_bits) {
  for (; j < end; j += 16) {
    const __mmask16 kept = (__mmask16)(0xFFFFu >> (end - j < 16 ? 16 - (end - j) : 0));
    const __m512i old = NUMBERS_AT(kept, x + j), gate = NUMBERS_AT(kept, found->read + j);
    const __m512i d = STEPS_AT(kept, word->d + j), b = STEPS_AT(kept, word->b + j);
    const __m512i s = _mm512_slli_epi32(STEPS_AT(kept, word->s + j), STEP_BITS);
    const __m512i low = sums_of(old, d, gate, s, _mm512_srai_epi64(_mm512_slli_epi64(b, 32), 24 - STEP_BITS), gate_bits);
    const __m512i high = sums_of(HALF_LANES(old), HALF_LANES(d), HALF_LANES(gate), HALF_LANES(s),
                                 _mm512_slli_epi64(_mm512_srai_epi64(b, 32), 8 + STEP_BITS), gate_bits);
    (void)kept;
    PUT_NUMBERS(x + j, kept, _mm512_mask_blend_epi32(0xAAAA, low, _mm512_slli_epi64(high, 32)));
  }
}

static void finish_step(state_number *x, const reads *found, const parts *word) {
  finish(x, found, word, 0, WFA_WIDTH, ONE_BITS);
  finish(x, found, word, WFA_WIDTH, NUMBERS, WFA_GATE_BITS);
}

/* the sum of products of two rows of numbers */
static int64_t product_of(const int32_t *one, const int32_t *two, size_t count) {
  __m512i sum = _mm512_setzero_si512();
  size_t i;
  for (i = 0; i < count; i += 16) {
    const __mmask16 kept = (__mmask16)(0xFFFFu >> (count - i < 16 ? 16 - (count - i) : 0));
    const __m512i x = _mm512_maskz_loadu_epi32(kept, one + i), y = _mm512_maskz_loadu_epi32(kept, two + i);
    sum = _mm512_add_epi64(sum, _mm512_mul_epi32(x, y));
    sum = _mm512_add_epi64(sum, _mm512_mul_epi32(HALF_LANES(x), HALF_LANES(y)));
  }
  return _mm512_reduce_add_epi64(sum);
}
#else
static void finish_step(state_number *x, const reads *found, const parts *word) {
  size_t j;
  for (j = 0; j < NUMBERS; j++) {
    const int64_t gated = shifted(found->read[j] * gate_of(word, j), j < WFA_WIDTH ? ONE_BITS : WFA_GATE_BITS);
    const int64_t added = (int64_t)word->b[j] * (1 << (STEP_BITS + 8));
    x[j] = (int32_t)cut(shifted(x[j] * kept_of(word, j), ONE_BITS) + gated + added, WFA_STATE_ONE - 1);
  }
}

static int64_t product_of(const int32_t *one, const int32_t *two, size_t count) {
  int64_t sum = 0;
  for (; count--; one++, two++) sum += (int64_t)*one * *two;
  return sum;
}
#endif

/* has what a word needs brought into the cache */
static inline void fetch(size_t entry) {
#if VECTORS
  size_t at;
  if (entry < prepared_count)
    for (at = 0; at < sizeof(parts); at += 64) _mm_prefetch((const char *)(prepared + entry) + at, _MM_HINT_T0);
#else
  (void)entry;
#endif
}

/* Texts, at most READ_AT_ONCE, read a word each; their states may all be alike. */
static inline void steps(state_number *const *x, const size_t *entries, const size_t count, const int alike) {
  const size_t distinct = alike ? 1 : count;
  reads found[READ_AT_ONCE];
  size_t t;
  for (t = 0; t < distinct; t++) start_reads(x[t], found + t);
#if COLUMNS
  read_links(found, distinct);
#endif
  for (t = 0; t < count; t++) {
    parts made;
    finish_step(x[t], found + (alike ? 0 : t), parts_of(entries[t], &made));
  }
}

static void step(const state_number *x, size_t entry, state_number *after) {
  if (after != x) memcpy(after, x, WFA_STATES * sizeof *x);
  steps(&after, &entry, 1, 0);
}

/* what a change of the state before the word does to column*(state after it) */
static void back_column(const int32_t *column, const parts *word, int32_t *before) {
  int64_t gated[NUMBERS], sums[NUMBERS];
  size_t i;
  for (i = 0; i < NUMBERS; i++)
    gated[i] = cut(shifted(gate_of(word, i) * column[i], i < WFA_WIDTH ? ONE_BITS : WFA_GATE_BITS), (int64_t)1 << 26);
  for (i = 0; i < NUMBERS; i++) sums[i] = shifted(column[i] * kept_of(word, i), ONE_BITS);
#if HALF
  for (i = 0; i < 2 * HALF; i++) sums[i] += gated[partner(i)];
#endif
#if COLUMNS
  {
    const wfa_link *link = wfa_links;
    size_t j, layer;
    for (layer = WFA_WIDTH; layer < NUMBERS; link += LINKS_TO(layer), layer += WFA_WIDTH)
      for (i = 0; i < layer; i++) {
        int64_t linked = 0;
        for (j = 0; j < WFA_WIDTH; j++) linked += LINK(link, i, j) * gated[layer + j];
        sums[i] += shifted(linked, WFA_LINK_BITS);
      }
  }
#endif
  for (i = 0; i < NUMBERS; i++) before[i] = (int32_t)cut(sums[i], (int64_t)1 << 27);
  before[NUMBERS] = column[NUMBERS];
}

static void back(const int32_t *columns, size_t entry, int32_t *before) {
  parts made;
  const parts *word = parts_of(entry, &made);
  size_t c;
  for (c = 0; c < WFA_FREE_CLASSES; c++) back_column(columns + c * WFA_STATES, word, before + c * WFA_STATES);
}

/* change*column in parts of 2^(26 - WFA_LOGIT_BITS) */
static int64_t dot(const int32_t *change, const int32_t *columns, size_t c) {
  int64_t sum = 0;
  size_t i;
  for (i = 0; i < NUMBERS; i++) sum += shifted((int64_t)change[i] * columns[COLUMN_AT(i, c)], 8);
  return cut(shifted(sum, 16), (int64_t)1 << 28);
}

/* the softmax, to the base of 2 */
static int read_out(const state_number *x, uint32_t *probabilities) {
  const int64_t most_gap = 40 * ((int64_t)1 << 20);
  int64_t sums[WFA_CLASSES], shares[WFA_CLASSES], all = 0;
  size_t c;
  int best = 0;
  for (c = 0; c < WFA_CLASSES; c++) sums[c] = product_of(x, wfa_final + c * WFA_STATES, WFA_STATES);
  for (c = 1; c < WFA_CLASSES; c++)
    if (sums[c] > sums[best]) best = (int)c;
  for (c = 0; c < WFA_CLASSES; c++) {
    int64_t gap = shifted(sums[best] - sums[c], 32 - WFA_LOGIT_BITS);
    shares[c] = halved(((gap < most_gap ? gap : most_gap) * 6051102) >> 20); /* log2(e) in parts of ONE */
    all += shares[c];
  }
  for (c = 0; c < WFA_CLASSES; c++) probabilities[c] = (uint32_t)(shares[c] * ONE / all);
  return best;
}
#endif

/* --- predictions */

#define IN_PLACE (WFA_LINEAR || (WFA_BLOCKS && VECTORS)) /* a step may write where it reads */

/* what was read of a text */
typedef struct {
  state_number states[IN_PLACE ? 1 : 2][ROOM];
  size_t words;
} reading;

static void start(reading *text) {
  start_state(text->states[0]);
  text->words = 0;
}

static inline void read_word(reading *text, size_t entry) {
#if IN_PLACE
  step(text->states[0], entry, text->states[0]);
#else
  state_number *after = text->states[1 - text->words % 2];
  step(text->states[text->words % 2], entry, after);
#if WFA_LOSSY
  rescale(after);
#endif
  text->words++;
#endif
}

static int answer(const reading *text, uint32_t *probabilities) {
  const state_number *last = text->states[text->words % 2];
#if WFA_BLOCKS
  int32_t sums[PADDED];
#if VECTORS
  lanes all[PADDED / LANES];
  memcpy(all, wfa_final_base, sizeof all);
  add_products(last, wfa_final_pairs, PADDED, all, (WFA_CLASSES + LANES - 1) / LANES);
  memcpy(sums, all, sizeof sums);
#else
  size_t pair, c;
  memcpy(sums, wfa_final_base, sizeof sums);
  for (pair = 0; pair < PAIRS; pair++)
    for (c = 0; c < WFA_CLASSES; c++) {
      const int16_t *both = wfa_final_pairs + (pair * PADDED + c) * 2;
      sums[c] += (int32_t)last[2 * pair] * both[0] + (int32_t)last[2 * pair + 1] * both[1];
    }
#endif
  return best_of(sums, probabilities);
#else
  return read_out(last, probabilities);
#endif
}

/* Reads the next words of a text. Returns 0, or WFA_UNKNOWN_WORD. */
static int read_tokens(reading *text, const wfa_token *tokens, size_t count) {
  size_t t;
  for (t = 0; t < count; t++) {
    if (WFA_CLOSED && !tokens[t].known) return WFA_UNKNOWN_WORD;
    read_word(text, tokens[t].entry);
  }
  return 0;
}

int wfa_predict_tokens(const wfa_token *tokens, size_t count, uint32_t probabilities[WFA_CLASSES]) {
  reading text;
  start(&text);
  return read_tokens(&text, tokens, count) ? WFA_UNKNOWN_WORD : answer(&text, probabilities);
}

int wfa_predict(const char *text, size_t bytes, uint32_t probabilities[WFA_CLASSES]) {
  word_reader words;
  wfa_token tokens[SOME];
  reading read;
  size_t count;
  start(&read);
  start_words(&words, text, bytes);
  while ((count = next_words(&words, tokens, SOME)) > 0)
    if (read_tokens(&read, tokens, count)) return WFA_UNKNOWN_WORD;
  return answer(&read, probabilities);
}

#define TOGETHER 8 /* texts that are read side by side: none waits for another's sums */
/* texts of which those of about the same length are read together */
#if WFA_LINEAR || defined(__AVX2__)
#define SORTED 128
#else
#define SORTED 32 /* which takes less memory */
#endif

/* Reads texts side by side, at most TOGETHER: quick if they have about the same length. */
static void read_together(const uint16_t *entries, const size_t *starts, const uint8_t *order, size_t count, int *classes,
                          uint32_t *probabilities) {
  reading texts[TOGETHER];
  const uint16_t *words[TOGETHER];
  size_t lengths[TOGETHER], shortest = SIZE_MAX, k, t;
  for (k = 0; k < TOGETHER; k++) {
    const size_t text = order[k < count ? k : 0];
    words[k] = entries + starts[text];
    lengths[k] = starts[text + 1] - starts[text];
    if (lengths[k] < shortest) shortest = lengths[k];
    start(&texts[k]);
  }
  for (t = 0; t < shortest; t++) {
#if WFA_LINEAR
    for (k = 0; k < TOGETHER; k += READ_AT_ONCE) {
      state_number *states[READ_AT_ONCE];
      size_t entry[READ_AT_ONCE], at;
      for (at = 0; at < READ_AT_ONCE; at++) {
        states[at] = texts[k + at].states[0];
        entry[at] = words[k + at][t];
        if (t + 1 < shortest) fetch(words[k + at][t + 1]);
      }
      if (t) steps(states, entry, READ_AT_ONCE, 0);
      else steps(states, entry, READ_AT_ONCE, 1);
    }
#else
    for (k = 0; k < TOGETHER; k++) read_word(&texts[k], words[k][t]);
#endif
  }
  for (k = 0; k < count; k++) {
    for (t = shortest; t < lengths[k]; t++) read_word(&texts[k], words[k][t]);
    classes[order[k]] = answer(&texts[k], probabilities + order[k] * WFA_CLASSES);
  }
}

/* Orders texts, at most SORTED, by their number of words; many are as good as SORTED. */
static void sort_by_length(const size_t *starts, size_t count, uint8_t *order) {
  uint8_t places[SORTED] = {0}, before = 0, here;
  size_t k;
#define LENGTH(k) (starts[(k) + 1] - starts[k] < SORTED ? starts[(k) + 1] - starts[k] : SORTED - 1)
  for (k = 0; k < count; k++) places[LENGTH(k)]++;
  for (k = 0; k < SORTED; k++) {
    here = places[k];
    places[k] = before;
    before = (uint8_t)(before + here);
  }
  for (k = 0; k < count; k++) order[places[LENGTH(k)]++] = (uint8_t)k;
}

void wfa_predict_entries(const uint16_t *entries, const size_t *starts, size_t count, int *classes, uint32_t *probabilities) {
  uint8_t order[SORTED];
  size_t first, k, some;
  for (first = 0; first < count; first += some, starts += some) {
    some = count - first < SORTED ? count - first : SORTED;
    sort_by_length(starts, some, order);
    for (k = 0; k < some; k += TOGETHER)
      read_together(entries, starts, order + k, some - k < TOGETHER ? some - k : TOGETHER, classes + first,
                    probabilities + first * WFA_CLASSES);
  }
}

#define POOL (10 * SORTED) /* words of texts that are read together */

/* The entries of a text, at most `room`. More: it has more words, or one that the automaton rejects. */
static size_t read_entries(const char *text, size_t bytes, uint16_t *entries, size_t room) {
  word_reader words;
  wfa_token tokens[SOME];
  size_t count = 0, found, t;
  start_words(&words, text, bytes);
  while ((found = next_words(&words, tokens, SOME)) > 0) {
    if (found > room - count) return room + 1;
    for (t = 0; t < found; t++) {
      if (WFA_CLOSED && !tokens[t].known) return room + 1;
      entries[count++] = tokens[t].entry;
    }
  }
  return count;
}

void wfa_predict_texts(const char *const *texts, const size_t *bytes, size_t count, int *classes, uint32_t *probabilities) {
  uint16_t entries[POOL];
  size_t starts[SORTED + 1] = {0}, first, some;
  for (first = 0; first < count; first += some) {
    for (some = 0; some < SORTED && some < count - first; some++) {
      const size_t room = POOL - starts[some];
      const size_t found = read_entries(texts[first + some], bytes[first + some], entries + starts[some], room);
      if (found > room) break;
      starts[some + 1] = starts[some] + found;
    }
    if (some) wfa_predict_entries(entries, starts, some, classes + first, probabilities + first * WFA_CLASSES);
    else {
      classes[first] = wfa_predict(texts[first], bytes[first], probabilities + first * WFA_CLASSES);
      some = 1;
    }
  }
}

/* --- exact Shapley values */

#define NUMBERS_AHEAD (WFA_STATES * WFA_FREE_CLASSES)

/* (1 - z)*one + z*two */
static int64_t mixed(uint32_t z, int64_t one, int64_t two) {
  return shifted((int64_t)(ONE - z) * one + (int64_t)z * two, 22);
}

/* Adds a node of quadrature. `work` has the columns of all classes, what they are before a word and without it, and what each
   word changes. */
static void add_node(const wfa_token *tokens, size_t count, enum wfa_absence absence, uint32_t z, uint32_t weight, int32_t *work,
                     int64_t *values) {
  state_number state[ROOM] = {0}, after[ROOM], base[ROOM];
  int32_t *ahead = work, *before = ahead + NUMBERS_AHEAD, *hidden = before + NUMBERS_AHEAD, *changes = hidden + NUMBERS_AHEAD;
  size_t t, i, c;
  start_state(state);
  for (t = 0; t < count; t++) {
    int32_t *change = changes + t * WFA_STATES;
    step(state, tokens[t].entry, after);
    if (absence == WFA_DELETE) memcpy(base, state, sizeof base);
    else step(state, 0, base);
    for (i = 0; i < WFA_STATES; i++)
      change[i] = (int32_t)shifted((int64_t)after[PLACE(i)] - (int64_t)base[PLACE(i)], CHANGE_ONE_BITS);
    for (i = 0; i < ROOM; i++) state[i] = (state_number)mixed(z, base[i], after[i]);
  }
  for (i = 0; i < WFA_STATES; i++)
    for (c = 0; c < WFA_FREE_CLASSES; c++) ahead[COLUMN_AT(i, c)] = (int32_t)(COLUMN_FACTOR * FINAL(i, c));
  for (t = count; t-- > 0;) {
    for (c = 0; c < WFA_FREE_CLASSES; c++)
      values[t * WFA_CLASSES + c] += (int64_t)weight * dot(changes + t * WFA_STATES, ahead, c);
    back(ahead, tokens[t].entry, before);
    if (absence == WFA_UNKNOWN) back(ahead, 0, hidden);
    for (i = 0; i < NUMBERS_AHEAD; i++) ahead[i] = (int32_t)mixed(z, absence == WFA_UNKNOWN ? hidden[i] : ahead[i], before[i]);
  }
}

int wfa_explain(const wfa_token *tokens, size_t count, enum wfa_absence absence, int32_t *work, int64_t *values) {
  const uint32_t *z = wfa_node_z, *weight = wfa_node_weights;
  size_t rule = 0, at, c;
  if (count > WFA_MOST_EXPLAINED) return WFA_TOO_LONG;
#if WFA_CLOSED
  for (at = 0; at < count; at++)
    if (!tokens[at].known) return WFA_UNKNOWN_WORD;
#endif
  for (at = 0; at < count * WFA_CLASSES; at++) values[at] = 0;
  for (; wfa_node_limits[rule] < count; rule++) {
    z += (wfa_node_counts[rule] + 1) / 2;
    weight += (wfa_node_counts[rule] + 1) / 2;
  }
  for (at = 0; at < wfa_node_counts[rule]; at++) { /* a rule lists the lower half of its nodes */
    const size_t mirror = wfa_node_counts[rule] - 1 - at, place = at < mirror ? at : mirror;
    add_node(tokens, count, absence, at > mirror ? ONE - z[place] : z[place], weight[place], work, values);
  }
  for (at = 0; at < count && WFA_FREE_CLASSES < WFA_CLASSES; at++) /* those of all classes sum to 0 */
    for (c = 0; c < WFA_FREE_CLASSES; c++) values[at * WFA_CLASSES + WFA_FREE_CLASSES] -= values[at * WFA_CLASSES + c];
  return 0;
}
