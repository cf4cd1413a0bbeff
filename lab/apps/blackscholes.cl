/* The Black-Scholes formula for European options: three members are read, two written. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef AT
#define OPTIONS float
#define MEMBER(i, name) AT(options, i, PLACE_##name)
enum { PLACE_price, PLACE_strike, PLACE_years, PLACE_call, PLACE_put };
#else
typedef struct {
    float price, strike, years; /* of the share, of the option, until it ends */
    float call, put;            /* what the option is worth */
} option;
#define OPTIONS option
#define MEMBER(i, name) options[i].name
#endif

static float normal_distribution(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    const float sum =
        k * (0.31938153f +
             k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228040143f * exp(-0.5f * d * d) * sum;
    return d > 0 ? 1.0f - tail : tail;
}

__kernel void value(__global OPTIONS *options, ulong count, float rate, float volatility)
{
    const size_t i = get_global_id(0);
    const float price = MEMBER(i, price), strike = MEMBER(i, strike), years = MEMBER(i, years);
    const float spread = volatility * sqrt(years);
    const float d1 =
        (log(price / strike) + (rate + 0.5f * volatility * volatility) * years) / spread;
    const float d2 = d1 - spread;
    const float discounted = strike * exp(-rate * years);
    const float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
    MEMBER(i, call) = price * n1 - discounted * n2;
    MEMBER(i, put) = discounted * (1.0f - n2) - price * (1.0f - n1);
}
