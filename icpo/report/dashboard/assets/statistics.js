"use strict";

/** The paired comparison of icpo.metrics, for any two cells that the reader picks. */
icpo.statistics = (() => {
  const NUM_RESAMPLES = 5000;

  /** A small seeded generator (mulberry32), so that the same pair shows the same interval again. */
  function generator(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  /** [value, low, high] of a mean with a 95% bootstrap interval; groups are one list of values per question. */
  function clustered(groups) {
    const sums = groups.map((group) => group.reduce((a, b) => a + b, 0));
    const counts = groups.map((group) => group.length);
    const total = (numbers) => numbers.reduce((a, b) => a + b, 0);
    const random = generator(1);
    const means = Float64Array.from({ length: NUM_RESAMPLES }, () => {
      let sum = 0;
      let count = 0;
      for (let i = 0; i < groups.length; i++) {
        const drawn = Math.floor(random() * groups.length);
        sum += sums[drawn];
        count += counts[drawn];
      }
      return sum / count;
    }).sort();
    return [total(sums) / total(counts), quantile(means, 0.025), quantile(means, 0.975)];
  }

  function quantile(sorted, q) {
    const place = q * (sorted.length - 1);
    const below = Math.floor(place);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }

  /** Exact two-sided p-value that gains and losses are equally likely; 1 without any. */
  function signTest(gained, lost) {
    const n = gained + lost;
    let term = -n * Math.LN2; // log of C(n, i) / 2^n
    let tail = 0;
    for (let i = 0; i <= Math.min(gained, lost); i++) {
      tail += Math.exp(term);
      term += Math.log(n - i) - Math.log(i + 1);
    }
    return Math.min(1, 2 * tail);
  }

  /** Pairs of two cells' questions: {id, text, gold, a, b, difference, seeds}, on the seeds that both have. */
  function pairs(a, b, metric) {
    const others = new Map(b.questions.map((question) => [question.id, question]));
    return a.questions.flatMap((question) => {
      const other = others.get(question.id);
      const seeds = Object.keys(question.seeds).filter(
        (seed) => other?.seeds[seed]?.[metric] !== undefined && question.seeds[seed][metric] !== undefined,
      );
      if (!seeds.length) return [];
      const mean = (q) => seeds.reduce((sum, seed) => sum + q.seeds[seed][metric], 0) / seeds.length;
      const differences = seeds.map((seed) => question.seeds[seed][metric] - other.seeds[seed][metric]);
      return [
        {
          id: question.id,
          text: question.text,
          gold: question.gold,
          a: mean(question),
          b: mean(other),
          difference: mean(question) - mean(other),
          differences,
          seed: seeds[0],
          question,
          other,
        },
      ];
    });
  }

  return { clustered, signTest, pairs };
})();
