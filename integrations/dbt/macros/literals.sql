{#- Values as SQL, whatever stands in them and whatever standard_conforming_strings says. -#}

{% macro text_literal(value) %}
    {%- do return(
        "E'" ~ value | string | replace("\\", "\\\\") | replace("'", "''") ~ "'"
    ) -%}
{% endmacro %}

{% macro do_block(body) %}
    {%- do return("DO " ~ omd.text_literal(body)) -%}
{% endmacro %}

{% macro count_literal(count) %}
    {%- do return("NULL" if count is none else count | int | string) -%}
{% endmacro %}

{#- The execution context of a run: what dbt knows, and the run that has called dbt. -#}
{% macro context_literal(unique_id) %}
    {%- set context = {"dbt": {"invocation_id": invocation_id, "unique_id": unique_id}} -%}
    {%- for key in [
        "openlineage_parent_id", "openlineage_root_parent_id", "traceparent", "tracestate"
    ] if env_var(key | upper, "") -%}
        {%- do context.update({key: env_var(key | upper)}) -%}
    {%- endfor -%}
    {%- do return(omd.text_literal(tojson(context)) ~ "::jsonb") -%}
{% endmacro %}

{#- The Batch Instance that calls: what is given, else the variable omd_batch_instance_id of dbt,
    else OMD_BATCH_INSTANCE_ID of the environment, as for all jobs. -#}
{% macro batch_instance_id(given=none) %}
    {%- set id = given or var("omd_batch_instance_id", "") or env_var("OMD_BATCH_INSTANCE_ID", "")
    -%}
    {%- if not id -%}
        {%- do return("NULL") -%}
    {%- elif not modules.re.fullmatch("[0-9]{1,19}", id | string) -%}
        {%- do exceptions.raise_compiler_error("omd: " ~ id ~ " is no id of a Batch Instance") -%}
    {%- endif -%}
    {%- do return(id | string) -%}
{% endmacro %}
