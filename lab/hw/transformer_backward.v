// The data layout transformer, from ASTA to AoS: transformer_forward with its flow reversed.
//
// D collects a tile from the memory, C holds it while STEP bits of each of its elements leave in each cycle, B collects
// them at the end of each structure (de-multiplexers in the place of multiplexers), A gives the chunk to the bus.
module transformer_backward #(
    parameter TILE = 32,
    parameter MOST_FIELDS = 20,
    parameter BITS = 32,
    parameter BUS = 128,
    parameter STEP = 4
) (
    input  wire           clock,
    input  wire           reset,
    input  wire [7:0]     fields,
    input  wire           in_valid,
    input  wire [BUS-1:0] in_data,
    output wire           in_ready,
    output wire           out_valid,
    output wire [BUS-1:0] out_data,
    input  wire           out_ready
);
    localparam TILE_BITS = TILE * BITS;
    localparam TILE_WORDS = TILE_BITS / BUS;
    localparam CHUNK_BITS = MOST_FIELDS * TILE_BITS;
    localparam TILE_STEPS = BITS / STEP;

    reg [CHUNK_BITS-1:0] a, b;
    reg [TILE_BITS-1:0]  c, d;

    wire        enters, loads, steps, hands_on, leaves;
    wire [31:0] place;
    pipeline control (
        .clock(clock), .reset(reset), .unit(TILE_WORDS), .unit_steps(TILE_STEPS),
        .part_steps({24'b0, fields} * TILE_STEPS), .part_words({24'b0, fields} * TILE_WORDS), .in_valid(in_valid),
        .in_last(1'b0), .in_ready(in_ready), .out_valid(out_valid), .out_ready(out_ready), .enters(enters),
        .place(place), .loads(loads), .steps(steps), .hands_on(hands_on), .leaves(leaves));
    assign out_data = a[BUS-1:0];

    // B moves by STEP bits; what crosses into the structure below is replaced by that structure's new bits.
    reg [CHUNK_BITS-1:0] b_next;
    integer k, w;
    always @* begin
        b_next = b >> STEP;
        w = 0;
        for (k = 1; k <= MOST_FIELDS; k = k + 1)
            if ({24'b0, fields} == k)
                for (w = 0; w < TILE; w = w + 1)
                    b_next[(w+1)*k*BITS-STEP +: STEP] = c[w*BITS +: STEP];
    end

    integer i;
    always @(posedge clock) begin
        for (i = 0; i < TILE_WORDS; i = i + 1)
            if (enters && place == i)
                d[i*BUS +: BUS] <= in_data;
        if (loads)
            c <= d;
        else if (steps)
            c <= c >> STEP;
        if (steps)
            b <= b_next;
        if (hands_on)
            a <= b;
        else if (leaves)
            a <= a >> BUS;
    end
endmodule
