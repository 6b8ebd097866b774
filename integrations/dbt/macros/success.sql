{#- A hook after a model, in its transaction: the run succeeds with the rows, or neither does. dbt
    knows how many rows its main statement wrote; what is given counts instead. -#}

{% macro success(
    rows_input=none, rows_inserted=none, rows_updated=none, rows_deleted=none,
    rows_discarded=none, rows_rejected=none
) %}
    {%- if not execute -%}
        {%- do return("") -%}
    {%- endif -%}
    {%- set given = [
        rows_input, rows_inserted, rows_updated, rows_deleted, rows_discarded, rows_rejected
    ] | select("integer") | list -%}
    {%- set main = load_result("main") -%}
    {%- if not given and main and main.response and main.response.rows_affected is defined
        and main.response.rows_affected is integer and main.response.rows_affected >= 0 -%}
        {%- set rows_inserted = main.response.rows_affected -%}
    {%- endif -%}
    {%- do return(omd.do_block(
"BEGIN
    IF coalesce(current_setting('omd.module_instance_id', TRUE), '') = '' THEN
        RAISE EXCEPTION USING
            MESSAGE = 'omd.success() finds no run in its transaction',
            HINT = 'omd.begin() is a pre-hook, omd.success() a post-hook; both are inside the'
                ' transaction of the model, which is the default.';
    END IF;
    CALL omd.module_success(
        p_module_instance_id => current_setting('omd.module_instance_id')::bigint,
        p_rows_input => " ~ omd.count_literal(rows_input) ~ ",
        p_rows_inserted => " ~ omd.count_literal(rows_inserted) ~ ",
        p_rows_updated => " ~ omd.count_literal(rows_updated) ~ ",
        p_rows_deleted => " ~ omd.count_literal(rows_deleted) ~ ",
        p_rows_discarded => " ~ omd.count_literal(rows_discarded) ~ ",
        p_rows_rejected => " ~ omd.count_literal(rows_rejected) ~ "
    );
    PERFORM set_config('omd.module_instance_id', '', TRUE);
END"
    )) -%}
{% endmacro %}
