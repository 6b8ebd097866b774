{#- The Module of a node: meta.omd_module, else dbt.<project>.<model>, with its version if it has
    one. -#}

{% macro module_code(node) %}
    {%- set meta = node.config.meta or {} -%}
    {%- do return(
        meta["omd_module"] if meta["omd_module"]
        else "dbt." ~ node.unique_id.split(".")[1:] | join(".")
    ) -%}
{% endmacro %}
