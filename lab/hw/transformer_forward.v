// The data layout transformer, from AoS to ASTA (Tseng 2014, section 3.3, figure 5).
//
// A chunk is TILE structures of `fields` elements of BITS bits. Buffer A collects it from the bus, B holds it while STEP
// bits of one element of each structure leave it in each cycle, C collects these into a tile, D gives the tile to the
// memory. B moves by STEP bits a cycle, so the element that leaves is always the first of its structure: only the
// distance between structures, fields * BITS, depends on `fields`.
//
// `fields` must not change while a chunk is inside. in_last marks the last word of an array that does not fill its
// chunk: the rest of the chunk becomes 0.
module transformer_forward #(
    parameter TILE = 32,         // W
    parameter MOST_FIELDS = 20,  // K at most
    parameter BITS = 32,         // of an element
    parameter BUS = 128,         // bits of a word; divides TILE * BITS
    parameter STEP = 4           // bits of an element a cycle; divides BITS; BUS / TILE balances the stages
) (
    input  wire           clock,
    input  wire           reset,
    input  wire [7:0]     fields,
    input  wire           in_valid,
    input  wire           in_last,
    input  wire [BUS-1:0] in_data,
    output wire           in_ready,
    output wire           out_valid,
    output wire [BUS-1:0] out_data,
    input  wire           out_ready
);
    localparam TILE_BITS = TILE * BITS;
    localparam TILE_WORDS = TILE_BITS / BUS;
    localparam CHUNK_BITS = MOST_FIELDS * TILE_BITS;
    localparam CHUNK_WORDS = MOST_FIELDS * TILE_WORDS;
    localparam TILE_STEPS = BITS / STEP;

    reg [CHUNK_BITS-1:0] a, b;
    reg [TILE_BITS-1:0]  c, d;

    wire        enters, loads, steps, hands_on, leaves;
    wire [31:0] place;
    pipeline control (
        .clock(clock), .reset(reset), .unit({24'b0, fields} * TILE_WORDS), .unit_steps({24'b0, fields} * TILE_STEPS),
        .part_steps(TILE_STEPS), .part_words(TILE_WORDS), .in_valid(in_valid), .in_last(in_last), .in_ready(in_ready),
        .out_valid(out_valid), .out_ready(out_ready), .enters(enters), .place(place), .loads(loads), .steps(steps),
        .hands_on(hands_on), .leaves(leaves));
    assign out_data = d[BUS-1:0];

    // The first STEP bits of each structure in B: one multiplexer a structure, over the possible numbers of fields.
    reg [TILE*STEP-1:0] taps;
    integer k, w;
    always @* begin
        taps = {TILE*STEP{1'b0}};
        w = 0;
        for (k = 1; k <= MOST_FIELDS; k = k + 1)
            if ({24'b0, fields} == k)
                for (w = 0; w < TILE; w = w + 1)
                    taps[w*STEP +: STEP] = b[w*k*BITS +: STEP];
    end

    // Each element of C moves by STEP; the new bits come in at its upper end.
    reg [TILE_BITS-1:0] c_moved;
    integer e;
    always @* begin
        c_moved = c >> STEP;
        for (e = 0; e < TILE; e = e + 1)
            c_moved[e*BITS+BITS-STEP +: STEP] = taps[e*STEP +: STEP];
    end

    integer i;
    always @(posedge clock) begin
        for (i = 0; i < CHUNK_WORDS; i = i + 1)
            if (enters && place == i)
                a[i*BUS +: BUS] <= in_data;
            else if (enters && in_last && place < i)
                a[i*BUS +: BUS] <= {BUS{1'b0}};
        if (loads)
            b <= a;
        else if (steps)
            b <= b >> STEP;
        if (steps)
            c <= c_moved;
        if (hands_on)
            d <= c;
        else if (leaves)
            d <= d >> BUS;
    end
endmodule
